/** The documentation as a site, as somebody opens it from a disk, and what its page on installing has people copy. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
