import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readImages } from './task-options.ts';

it('CK1020: pictures that no server takes are refused before anything is sent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-images-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const picture = (name: string, bytes: number): string => {
    writeFileSync(join(folder, name), '');
    truncateSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const small = picture('small.png', 3);
  const large = picture('large.png', 2_900_000);
  expect(await readImages([small])).toEqual(['data:image/png;base64,AAAA']);
  await expect(readImages([picture('huge.png', 3_000_001)])).rejects.toThrow('huge.png is larger than 3 MB');
  await expect(readImages(Array.from({ length: 5 }, () => large))).rejects.toThrow('14 MB together');
  await expect(readImages([folder])).rejects.toThrow('could not be read');
  await expect(readImages([small, join(folder, 'none.png')])).rejects.toThrow('could not be read');
});
