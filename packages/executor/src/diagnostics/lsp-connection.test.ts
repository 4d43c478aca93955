import { PassThrough, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { LspConnection, type LspPeer } from './lsp-connection.ts';

const message = (value: unknown): string => {
  const body = JSON.stringify(value);
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

function connected(input: Writable, peer: Partial<LspPeer> = {}) {
  const output = new PassThrough();
  const seen = { isBroken: false };
  const connection = new LspConnection(input, output, {
    notified: () => undefined,
    answer: () => null,
    broken: () => (seen.isBroken = true),
    ...peer,
  });
  return { connection, output, seen };
}

/** Takes the first piece, and never another one. */
const stuck = (): Writable => new Writable({ write: () => undefined });

it('RT832: what a server does not read is not stored without a bound', () => {
  const input = stuck();
  const { connection, seen } = connected(input);
  for (let n = 0; n < 100 && !seen.isBroken; n += 1) connection.notify('textDocument/didChange', { text: 'x'.repeat(1024 ** 2) });
  expect([seen.isBroken, input.writableLength < 40 * 1024 ** 2]).toEqual([true, true]);
});

itInFull('RT832: a server that asks and asks, and reads no answer, is given up', async () => {
  const { output, seen } = connected(stuck(), { answer: () => 'x'.repeat(1024 ** 2) });
  for (let id = 0; id < 100; id += 1) output.write(message({ id, method: 'workspace/configuration' }));
  await expect.poll(() => seen.isBroken).toBe(true);
});
