import { anyCharacter } from '@tendon/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLines, TooMuch } from './streams.ts';

/** Many cases: the default of a quick test leaves them no room on a busy machine. */
const limits = { maxLine: 100, maxTotal: 1000 };
async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const list: string[] = [];
  for await (const line of lines) list.push(line);
  return list;
}

describe('lines of a stream', () => {
  it('SB31: are the same however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: anyCharacter, maxLength: 20 })), fc.integer({ min: 1, max: 9 }), async (texts, size) => {
        const lines = texts.map((text) => text.replaceAll('\n', ''));
        const stream = chunksOf(Buffer.from(lines.map((line) => `${line}\n`).join('')), size);
        const expected = lines.map((line) => Buffer.from(line).toString());
        expect(await all(readLines(stream, { maxLine: 10_000, maxTotal: 100_000 }))).toEqual(expected);
      }),
    );
  });

  it('SB31: a line without an end is not collected for ever, nor is an endless stream', async () => {
    await expect(all(readLines(chunksOf(Buffer.alloc(500, 'x'), 10), limits))).rejects.toThrow(TooMuch);
    await expect(all(readLines(chunksOf(Buffer.from('x\n'.repeat(2000)), 10), limits))).rejects.toThrow(TooMuch);
  });
});
