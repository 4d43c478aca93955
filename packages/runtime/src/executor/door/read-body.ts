import type { IncomingMessage } from 'node:http';

/** More than is taken; the rest is not waited for. */
export class TooLong extends Error {
  override name = 'TooLong';

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
  }
}

/** The whole body. Throws `TooLong` when it is longer than `maxBytes`. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > maxBytes) throw new TooLong(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
