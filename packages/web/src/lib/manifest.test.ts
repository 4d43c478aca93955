/** What a browser installs the app from. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const web = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(web, 'public', name));

/** From the header of a PNG. */
const sizeOf = (png: Buffer) => `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`;

it('the manifest has what browsers ask of an app that can be installed, and its icons are what it says', () => {
  const manifest = JSON.parse(read('manifest.webmanifest').toString()) as {
    readonly icons: readonly { readonly src: string; readonly sizes: string; readonly type: string; readonly purpose: string }[];
  };
  expect(manifest).toMatchObject({ id: '/', name: 'Tendon', short_name: 'Tendon', start_url: '/', scope: '/', display: 'standalone' });
  const pictures = manifest.icons.filter(({ type }) => type === 'image/png');
  expect(pictures.map(({ src }) => sizeOf(read(src)))).toEqual(pictures.map(({ sizes }) => sizes));
  expect(pictures.map(({ sizes }) => sizes)).toEqual(expect.arrayContaining(['192x192', '512x512']));
  expect(manifest.icons.some(({ src, purpose }) => purpose === 'maskable' && read(src).length > 0)).toBe(true);
});

it('the page names the manifest, and the icon of Apple’s Dock and home screen', () => {
  const page = readFileSync(join(web, 'index.html'), 'utf8');
  expect(page).toContain('<link rel="manifest" href="/manifest.webmanifest" />');
  const [, icon] = /<link rel="apple-touch-icon" href="\/([^"]+)"/.exec(page)!;
  expect(sizeOf(read(icon!))).toBe('180x180');
});
