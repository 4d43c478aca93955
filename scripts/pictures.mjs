#!/usr/bin/env node
// Makes the pictures of the README, `npm run pictures`: the web app in Chromium, and `tendon run` in a terminal. Server, sandbox, commands
// and files are real; the model plays a script, so that every run shows the same.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
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
const DEADLINE_MS = 60_000;

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

const { node, env } = setup('test');
spawnSync(node, [join(root, 'scripts/build.mjs'), '--if-stale', 'executor', 'web'], { cwd: root, env, stdio: 'inherit' });
mkdirSync(PICTURES, { recursive: true });
await inPlace(pictureOfApp);
await inPlace(pictureOfTerminal);

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
  const executablePath = CHROMIUM.find((place) => place && existsSync(place));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  try {
    await new Promise((resolve) => server.stdout.on('data', (text) => String(text).includes(`:${PORT}`) && resolve()));
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', reducedMotion: 'reduce' });
    page.setDefaultTimeout(DEADLINE_MS);
    await page.goto(`http://127.0.0.1:${PORT}`);
    await page.getByRole('textbox', { name: 'Task' }).fill(TASK);
    await page.getByRole('textbox', { name: 'Task' }).press('Enter');
    await page.getByRole('article', { name: /^Done/ }).waitFor();
    await page.getByRole('region', { name: '/workspace/prices.py' }).waitFor();
    await page.screenshot({ path: join(PICTURES, 'app.png') });
  } finally {
    await browser.close();
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

const ESC = '\u001b';
const COLOUR = new RegExp(`${ESC}\\[(\\d*)m`, 'g');
const OTHER_CONTROL = new RegExp(`${ESC}\\[(?!\\d*m)[0-9;?]*[A-Za-z]`, 'g');
const REDRAWN = new RegExp(`\\r|${ESC}\\[2K`);
const COLUMNS = 92;
const LINE_PX = 19;
const CHAR_PX = 8.1;
const LONGEST_PAUSE_MS = 1500;
const COLOURS = { 2: '#8b949e', 31: '#ff7b72', 36: '#56d4dd' };

/**
 * An SVG that plays what a program printed: each line appears when its last character came, pauses cut to a second and a half.
 * `pieces`: `{atMs, text}` in order. Of a line that was drawn over, the last state is shown; colours are shown, other control sequences are not.
 */
function terminalPicture(command, pieces) {
  const lines = [{ atMs: 0, text: `${ESC}[36m$${ESC}[0m ${command}` }, ...linesOf(pieces)];
  const height = 28 + lines.length * LINE_PX + 14;
  const width = Math.ceil(COLUMNS * CHAR_PX + 32);
  const texts = lines.map(({ atMs, text }, index) => {
    const y = 36 + index * LINE_PX;
    return `<text x="16" y="${y}" style="animation-delay:${(atMs / 1000).toFixed(2)}s">${coloured(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<style>
text { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #e6edf3; white-space: pre; opacity: 0; animation: show 0.01s linear forwards; }
@keyframes show { to { opacity: 1; } }
@media (prefers-reduced-motion: reduce) { text { animation: none; opacity: 1; } }
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${texts.join('\n')}
</svg>
`;
}

function linesOf(pieces) {
  const lines = [];
  let open = '';
  let colour = '';
  let [clock, last] = [600, pieces[0]?.atMs ?? 0];
  for (const { atMs, text } of pieces) {
    clock += Math.min(atMs - last, LONGEST_PAUSE_MS);
    last = atMs;
    const parts = (open + text).split('\n');
    open = parts.pop();
    for (const part of parts) {
      const line = colour + lastState(part);
      lines.push({ atMs: clock, text: line });
      colour = line.match(COLOUR)?.at(-1) ?? '';
    }
  }
  while (lines.at(-1)?.text.trim() === '') lines.pop();
  return lines.flatMap(({ atMs, text }) => wrapped(text).map((row) => ({ atMs, text: row })));
}

/** What is left on the line after carriage returns and erasures. */
function lastState(line) {
  const shown = line.replace(/\r+$/, '').split(REDRAWN).at(-1);
  return shown.replace(OTHER_CONTROL, '');
}

function wrapped(text) {
  const colour = text.startsWith(ESC) ? text.match(COLOUR)[0] : '';
  const plain = text.replace(COLOUR, '');
  if (plain.length <= COLUMNS) return [text];
  const rows = [];
  for (let rest = plain; rest !== '';) {
    const space = rest.length > COLUMNS ? rest.lastIndexOf(' ', COLUMNS) : -1;
    const end = rest.length <= COLUMNS ? rest.length : space > 0 ? space : COLUMNS;
    rows.push(colour + rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return rows;
}

function coloured(text) {
  const spans = text.split(COLOUR);
  return spans
    .map((part, index) => {
      if (index % 2 === 1 || part === '') return '';
      const colour = COLOURS[spans[index - 1]];
      const escaped = part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
      return colour === undefined ? escaped : `<tspan fill="${colour}">${escaped}</tspan>`;
    })
    .join('');
}
