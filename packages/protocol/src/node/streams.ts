import type { Duplex } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

export interface FirstLineLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** The first line of a connection, without its newline; what came behind it stays in the stream. Rejects with why there is none. */
export function readFirstLine(stream: Duplex, { maxBytes, timeoutMs }: FirstLineLimits): Promise<string> {
  return new Promise((resolve, reject) => {
    let read: Buffer = Buffer.alloc(0);
    const settle = (how: () => void): void => {
      clearTimeout(timer);
      stream.off('data', take).off('end', gone).off('close', gone).pause();
      how();
    };
    const fail = (reason: string): void => settle(() => reject(new Error(reason)));
    const gone = (): void => fail('the connection ended');
    const take = (data: Buffer): void => {
      read = Buffer.concat([read, data]);
      const end = read.indexOf('\n');
      if ((end < 0 ? read.length : end) > maxBytes) return fail('the first line is too long');
      if (end < 0) return;
      settle(() => resolve(read.toString('utf8', 0, end)));
      stream.unshift(read.subarray(end + 1)); // only now: while somebody listens it would come again at once
    };
    const timer = setTimeout(() => fail('nothing was asked for in time'), timeoutMs);
    if (stream.destroyed) return gone();
    stream.on('data', take).once('end', gone).once('close', gone);
  });
}

/**
 * Passes everything on, both ways. What one side has sent before it ended still arrives; a side that fails ends the other at
 * once. The caller sets the deadlines.
 */
export function joinStreams(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.pipe(to);
    from.on('close', () => (from.readableEnded ? void to.end(() => to.destroy()) : void to.destroy()));
  }
}

/** A line, or the sum of all, was longer than allowed. */
export class TooMuch extends Error {
  override name = 'TooMuch';
}

export interface NdjsonLimits {
  /** Characters. */
  readonly maxLine: number;
  readonly maxTotal: number;
}

/** Lines of a byte stream as they come, without their newline; a last line without one counts. Throws `TooMuch`. */
export async function* readLines(stream: AsyncIterable<Buffer>, limits: NdjsonLimits): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let pending: string[] = [];
  let pendingLength = 0;
  let total = 0;
  for await (const chunk of stream) {
    const text = decoder.write(chunk);
    total += text.length;
    if (total > limits.maxTotal) throw new TooMuch(`more than ${limits.maxTotal} characters`);
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      yield pending.join('') + text.slice(start, end);
      pending = [];
      pendingLength = 0;
      start = end + 1;
    }
    if (start === text.length) continue;
    pending.push(text.slice(start));
    pendingLength += text.length - start;
    if (pendingLength > limits.maxLine) throw new TooMuch(`a line of more than ${limits.maxLine} characters`);
  }
  if (pendingLength > 0) yield pending.join('');
}
