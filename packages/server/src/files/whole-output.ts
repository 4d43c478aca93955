import { StringDecoder } from 'node:string_decoder';
import { createMask, type Runtime, type Secret } from '@tendon/core';

const MAX_BYTES = 1024 ** 3;
const PIECE_MS = 30_000;

/**
 * What an action has printed so far, piece by piece as it is taken; nothing where the sandbox has none of it. The agent can write
 * to the file it comes from, so secrets are hidden once more on the way. Where there are none it is the same to the byte.
 */
export async function wholeOutput(
  runtime: Runtime,
  { actionId, epoch }: { readonly actionId: number; readonly epoch: string },
  secrets: readonly Secret[],
): Promise<AsyncIterable<string | Uint8Array> | undefined> {
  const pieceAt = (offset: number) => runtime.output(actionId, offset, { signal: AbortSignal.timeout(PIECE_MS), epoch });
  const first = await pieceAt(0).catch(() => undefined);
  return first === undefined ? undefined : masked(pieces(first, pieceAt), secrets);
}

async function* pieces(first: Uint8Array, pieceAt: (offset: number) => Promise<Uint8Array | undefined>): AsyncGenerator<Uint8Array> {
  let offset = 0;
  for (let piece: Uint8Array | undefined = first; piece && piece.length > 0 && offset < MAX_BYTES; piece = await pieceAt(offset)) {
    yield piece;
    offset += piece.length;
  }
}

async function* masked(output: AsyncIterable<Uint8Array>, secrets: readonly Secret[]): AsyncGenerator<string | Uint8Array> {
  if (!secrets.some((secret) => secret.isMaskable)) return yield* output;
  const decoder = new StringDecoder('utf8');
  const stream = createMask(secrets).stream();
  for await (const piece of output) yield stream.push(decoder.write(Buffer.from(piece)));
  yield stream.push(decoder.end()) + stream.flush();
}
