import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findChromium, NO_CHROMIUM } from './find-chromium.ts';

const among =
  (...paths: readonly string[]) =>
  (path: string) =>
    paths.includes(path);

it('RT157: a Chromium is found on PATH or at its usual places, and a variable that names one decides', () => {
  expect(findChromium({ PATH: '/a:/b' }, among('/b/google-chrome', '/a/chromium-browser'))).toBe('/a/chromium-browser');
  expect(findChromium({ PATH: '/a' }, among('/a/chromium', '/usr/lib/chromium/chromium'))).toBe('/usr/lib/chromium/chromium');
  expect(findChromium({ PATH: '/a', CHROME_PATH: '/c' }, among('/a/chromium', '/c'))).toBe('/c');
  expect(findChromium({ PATH: '/a', CHROMIUM_PATH: '/gone' }, among('/a/chromium'))).toBeUndefined();
  expect(findChromium({ PATH: '/a' }, among())).toBeUndefined();
  expect(NO_CHROMIUM).toContain('apt-get install chromium');
});

it('RT157: one that Playwright brought is found, the newest', () => {
  const home = mkdtempSync(join(tmpdir(), 'tendon-home-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const paths = ['chromium-999', 'chromium-1200'].map((version) => join(home, '.cache/ms-playwright', version, 'chrome-linux/chrome'));
  for (const path of paths) {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, '');
    chmodSync(path, 0o755);
  }
  expect(findChromium({ PATH: '/nowhere', HOME: home }, (path) => paths.includes(path))).toBe(paths[1]);
});
