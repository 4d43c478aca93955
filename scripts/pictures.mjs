#!/usr/bin/env node
// Makes the pictures of the README and of the documentation, `npm run pictures [-- WORD]`; with WORD only those that have it in their names.
// `app` and `run` are the web app and `tendon run` at a task: server, sandbox, commands and files are real, the model plays a script.
// The others are screens of the web app on made-up conversations, whose clock stands: they differ only where the app does.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { takeScreens } from './pictures/take-screens.mjs';
import { terminalPicture } from './pictures/terminal-picture.mjs';
import { root, setup } from './setup.mjs';

const PORT = 3777;
const TASK = 'The tests fail. Find out why and fix it.';
const PICTURES = join(root, 'docs/pictures');
const CHROMIUM = [
  process.env.CHROMIUM_PATH,
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const DEADLINE_MS = 30_000;

const PROJECT = {
  'prices.py': `"""Prices in cents."""


def total(prices, discount=0):
    """The sum, less the discount in percent, rounded half up."""
    return int(sum(prices) * (100 - discount) / 100)
`,
  'test_prices.py': `import unittest
from prices import total


class Prices(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(total([100, 250]), 350)

    def test_discount_is_rounded(self):
        self.assertEqual(total([333], discount=50), 167)


if __name__ == "__main__":
    unittest.main()
`,
};
const OLD_LINE = '    return int(sum(prices) * (100 - discount) / 100)';
const NEW_LINE = '    return (sum(prices) * (100 - discount) + 50) // 100';
const TESTS = { name: 'execute_bash', arguments: { command: 'python3 -m unittest' } };
const SCRIPT = [
  { text: 'I run the tests first.', toolCalls: [TESTS], delayMs: 900 },
  {
    text: 'A discount is cut off, not rounded. I look at the function.',
    toolCalls: [{ name: 'str_replace_editor', arguments: { command: 'view', path: '/workspace/prices.py' } }],
    delayMs: 1200,
  },
  {
    text: 'Integers round half up without going through floats.',
    toolCalls: [
      {
        name: 'str_replace_editor',
        arguments: { command: 'str_replace', path: '/workspace/prices.py', old_str: OLD_LINE, new_str: NEW_LINE },
      },
    ],
    delayMs: 1200,
  },
  { toolCalls: [TESTS], delayMs: 600 },
  {
    toolCalls: [
      {
        name: 'finish',
        arguments: {
          message: '`total` cut the discounted sum off; it now rounds half up, in integers. Both tests pass.',
          task_completed: 'true',
        },
      },
    ],
    delayMs: 900,
  },
];

const { node, env } = await setup('test');
spawnSync(node, [join(root, 'scripts/build.mjs'), '--if-stale', 'executor', 'web'], { cwd: root, env, stdio: 'inherit' });
mkdirSync(PICTURES, { recursive: true });
const [word = ''] = process.argv.slice(2);
if ('app'.includes(word)) await inPlace(pictureOfApp);
if ('run'.includes(word)) await inPlace(pictureOfTerminal);
await inBrowser((browser) => takeScreens({ node, browser, folder: PICTURES, word }));

async function inBrowser(use) {
  const executablePath = CHROMIUM.find((place) => place && existsSync(place));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  try {
    return await use(browser);
  } finally {
    await browser.close();
  }
}

/** A home with the script and a workspace with the project, for one picture. */
async function inPlace(picture) {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-pictures-'));
  const home = join(folder, 'home');
  const workspace = join(folder, 'shop');
  mkdirSync(home);
  mkdirSync(workspace);
  for (const [name, text] of Object.entries(PROJECT)) writeFileSync(join(workspace, name), text);
  writeFileSync(join(home, 'demo.json'), JSON.stringify(SCRIPT));
  const variables = { PATH: env.PATH, HOME: home, TENDON_HOME: home, WORKSPACE_BASE: workspace, LLM_MODEL: 'scripted/demo.json' };
  try {
    await picture({ ...variables, PORT: String(PORT), LOG_LEVEL: 'error', TERM: 'xterm-256color' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tendon(variables, args, command = [node]) {
  const program = [...command, '--conditions=tendon-source', join(root, 'packages/cli/src/main.ts'), ...args];
  return spawn(program[0], program.slice(1), { cwd: variables.HOME, env: variables, stdio: ['ignore', 'pipe', 'inherit'] });
}

async function pictureOfApp(variables) {
  const server = tendon(variables, ['serve']);
  const ended = new Promise((resolve) => server.on('exit', resolve));
  try {
    await new Promise((resolve) => server.stdout.on('data', (text) => String(text).includes(`:${PORT}`) && resolve()));
    await inBrowser(async (browser) => {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', reducedMotion: 'reduce' });
      page.setDefaultTimeout(DEADLINE_MS);
      await page.goto(`http://127.0.0.1:${PORT}`);
      await page.getByRole('textbox', { name: 'Task' }).fill(TASK);
      await page.getByRole('textbox', { name: 'Task' }).press('Enter');
      await page.getByRole('article', { name: /^Done/ }).waitFor();
      await page.getByRole('tabpanel').getByText('prices.py').first().waitFor();
      await page.getByText('Undo the file changes').waitFor();
      await page.screenshot({ path: join(PICTURES, 'app.png') });
    });
  } finally {
    server.kill('SIGTERM');
    await ended;
  }
}

async function pictureOfTerminal(variables) {
  const command = `${node} --conditions=tendon-source ${join(root, 'packages/cli/src/main.ts')} run '${TASK}'`;
  const started = Date.now();
  const pieces = [];
  const run = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd: variables.HOME,
    env: variables,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const asAtHome = (text) => text.replaceAll(variables.WORKSPACE_BASE, '~/shop');
  run.stdout.on('data', (text) => pieces.push({ atMs: Date.now() - started, text: asAtHome(String(text)) }));
  await new Promise((resolve) => run.on('exit', resolve));
  writeFileSync(join(PICTURES, 'run.svg'), terminalPicture(`tendon run '${TASK}'`, pieces));
}
