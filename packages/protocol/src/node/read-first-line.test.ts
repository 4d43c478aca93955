import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { readFirstLine } from './streams.ts';

const limits = { maxBytes: 10, timeoutMs: 60_000 };

it('SB31: the first line is read however it is cut, and what is behind it stays in the stream', async () => {
  const [here, there] = duplexPair();
  const line = readFirstLine(here, limits);
  for (const piece of ['fi', 'rst\nsec', 'ond\n']) there.write(piece);
  expect(await line).toBe('first');
  there.end('third');
  expect(await text(here)).toBe('second\nthird');
});

it('SB31: a first line that is too long, does not come or is cut off is refused', async () => {
  const [long, sender] = duplexPair();
  sender.write('x'.repeat(11));
  await expect(readFirstLine(long, limits)).rejects.toThrow('too long');
  const [cut, leaver] = duplexPair();
  leaver.end('half');
  await expect(readFirstLine(cut, limits)).rejects.toThrow('the connection ended');
  await expect(readFirstLine(duplexPair()[0], { ...limits, timeoutMs: 1 })).rejects.toThrow('in time');
});
