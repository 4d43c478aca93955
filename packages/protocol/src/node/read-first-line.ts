import type { Duplex } from 'node:stream';

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
