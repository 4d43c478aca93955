// Makes the PNG icons of systems that show no SVG (iOS, older launchers) from `icon-maskable.svg`, with the Chromium of this machine:
//   node packages/web/dev/make-icons.mjs
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const SIZES = { 'apple-touch-icon': 180, 'icon-192': 192, 'icon-512': 512 };
const PLACES = [process.env.CHROMIUM_PATH, '/usr/lib/chromium/chromium-headless-shell', '/usr/lib/chromium/chromium', '/usr/bin/chromium'];

const files = join(import.meta.dirname, '../public');
const svg = readFileSync(join(files, 'icon-maskable.svg')).toString('base64');
const browser = await chromium.launch({ executablePath: PLACES.find((place) => place && existsSync(place)), args: ['--no-sandbox'] });
for (const [name, size] of Object.entries(SIZES)) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  await page.setContent(`<style>* { margin: 0 }</style><img width="${size}" height="${size}" src="data:image/svg+xml;base64,${svg}">`);
  writeFileSync(join(files, `${name}.png`), await page.screenshot());
}
await browser.close();
