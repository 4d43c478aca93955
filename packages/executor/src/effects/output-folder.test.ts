import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openOutputFolder } from './output-folder.ts';
import { createSpool } from './spool.ts';

let home: string;
beforeEach(() => void (home = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-output-')))));
afterEach(() => rmSync(home, { recursive: true }));

describe('long outputs', () => {
  it('RT46: have a file each, and the oldest go when there are too many bytes', () => {
    const outputs = openOutputFolder(join(home, 'output'), { chars: 30_000, fileBytes: 500, folderBytes: 1000 });
    for (let id = 1; id <= 4; id += 1) {
      const file = outputs.create(`conversation:${id}`)!;
      writeSync(file.fd, 'x'.repeat(200));
      closeSync(file.fd);
      utimesSync(file.path, id, id);
    }
    expect(outputs.create('conversation:5')).toMatchObject({ path: join(home, 'output', '5.txt'), maxBytes: 500 });
    expect(readdirSync(join(home, 'output')).toSorted()).toEqual(['3.txt', '4.txt', '5.txt']);
  });

  it('RT46: are written through no link, and where they cannot be stored the output goes on', () => {
    mkdirSync(join(home, 'own'));
    symlinkSync(join(home, 'own'), join(home, 'output'));
    const spool = createSpool(24 * 1024, () => openOutputFolder(join(home, 'output')).create('conversation:1'));
    expect(spool.append('x'.repeat(20_000))).toBe(true);
    expect(spool.append('x'.repeat(20_000))).toBe(false);
    expect(spool.path).toBeUndefined();
    expect(readdirSync(join(home, 'own'))).toEqual([]);
  });

  it('RT46: a name that an agent has made a link is made anew', () => {
    mkdirSync(join(home, 'output'));
    writeFileSync(join(home, 'secret'), 'secret');
    symlinkSync(join(home, 'secret'), join(home, 'output', '1.txt'));
    const outputs = openOutputFolder(join(home, 'output'));
    expect(outputs.read('conversation:1', 0, 100)).toBeUndefined();
    const file = outputs.create('conversation:1')!;
    writeSync(file.fd, 'output');
    expect(readFileSync(join(home, 'output', '1.txt'), 'utf8')).toBe('output');
    expect(outputs.read('conversation:1', 3, 100)?.toString()).toBe('put');
    expect(readFileSync(join(home, 'secret'), 'utf8')).toBe('secret');
    closeSync(file.fd);
  });

  it('RT5, RT8: can be read from any offset while they grow, to the byte', () => {
    const spool = createSpool(24 * 1024, () => openOutputFolder(join(home, 'output')).create('conversation:1'));
    let whole = '';
    for (let line = 0; line < 60_000; line += 1) {
      const text = `line ${line} äöü\n`;
      spool.append(text);
      whole += text;
    }
    spool.end();
    const bytes = Buffer.from(whole);
    expect(spool.bytes).toBe(bytes.length);
    for (const offset of [0, 10_000, 24 * 1024, 300_000, bytes.length - 20])
      expect(spool.read(offset, 100).equals(bytes.subarray(offset, offset + spool.read(offset, 100).length))).toBe(true);
    expect(readFileSync(spool.path!, 'utf8')).toBe(whole);
    spool.close();
  });
});
