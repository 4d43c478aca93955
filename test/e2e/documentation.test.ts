/** The documentation as a site, as somebody opens it from a disk, and what its page on installing has people copy. */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { launchBrowser } from './web-browser.ts';

const root = join(import.meta.dirname, '../..');

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-documentation-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('opens from a disk: its pictures, search, links and themes need no server and no other host', async () => {
  const folder = temporaryFolder();
  execFileSync(process.execPath, [join(root, 'scripts/docs.mjs'), folder]);
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ colorScheme: 'dark' });
  const trouble: string[] = [];
  page.on('pageerror', (error) => trouble.push(String(error)));
  page.on('requestfailed', (request) => trouble.push(request.url()));
  page.on('request', (request) => void (request.url().startsWith('file:') || trouble.push(request.url())));
  await page.goto(pathToFileURL(join(folder, 'index.html')).href);
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  await page.getByRole('searchbox').fill('reverse proxy caddy');
  await page.getByRole('list', { name: 'Found' }).getByRole('link').first().click();
  await page.getByRole('heading', { level: 1, name: 'Install' }).waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'The web app' }).click();
  const picture = page.getByRole('img', { name: 'Home', exact: true });
  await picture.scrollIntoViewIfNeeded();
  await expect.poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBe(1280);
  expect(trouble).toEqual([]);
});

it.runIf(spawnSync('systemd-analyze', ['--version']).status === 0)('has a unit that systemd takes', () => {
  const unit = /```ini\n(.*?)```/s.exec(readFileSync(join(root, 'docs/install.md'), 'utf8'))![1]!;
  const file = join(temporaryFolder(), 'tendon.service');
  // What this machine lacks: the program, its user and its settings.
  writeFileSync(file, unit.replace('/usr/local/bin/tendon', '/bin/true').replace('User=tendon', 'User=root'));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  expect({ status, stderr: stderr.split('\n').filter((line) => line.includes('tendon.service')) }).toEqual({ status: 0, stderr: [] });
});

/** The words behind `tendon` on the lines of code blocks and in code among words, up to a comment, a pipe or an operator. */
function commandsIn(markdown: string): readonly string[] {
  const blocks = [...markdown.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block]) => block!.split('\n'));
  const inline = [...markdown.replace(/^```.*?^```/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
  return [...blocks, ...inline].flatMap((line) =>
    [...line.matchAll(/(?:^|[|&;] |npx )tendon ([^|&;#]+)/g)].map(([, words]) => words!.trim()),
  );
}

it('names no command and no option that the program does not have', () => {
  const main = join(root, 'packages/cli/src/main.ts');
  const completion = execFileSync(process.execPath, ['--conditions=tendon-source', main, 'completion', 'bash'], { encoding: 'utf8' });
  const options = new Map(
    [...completion.matchAll(/^ *"([a-z ]+)"\|.* words="([^"]*)"/gm)].map(([, name, words]) => [name!, words!.split(' ')]),
  );
  const ofProgram = / \*\) words="([^"]*)"/.exec(completion)![1]!.split(' ');
  const unknown: string[] = [];
  let count = 0;
  for (const file of globSync(['README.md', 'docs/**/*.md', 'packages/*/README.md'], { cwd: root })) {
    for (const command of commandsIn(readFileSync(join(root, file), 'utf8'))) {
      const [first = '', second = ''] = command.split(/\s+/);
      const names = [`${first} ${second}`, first, `${first} list`].filter((name) => options.has(name));
      const known = ['--help', '--version', ...ofProgram, ...names.flatMap((name) => options.get(name)!)];
      const missing = [...command.matchAll(/(?<=^|\s)--[a-z-]+/g)].filter(([option]) => !known.includes(option));
      if ((/^[a-z]+$/.test(first) && names.length === 0) || missing.length > 0) unknown.push(`${file}: tendon ${command}`);
      count += 1;
    }
  }
  expect(unknown).toEqual([]);
  expect(count).toBeGreaterThan(50);
});
