import type { FastifyReply } from 'fastify';

/** Does the work of an answer; its signal aborts when the client goes away before it has the answer. */
export async function untilClientLeaves<T>({ raw }: Pick<FastifyReply, 'raw'>, work: (left: AbortSignal) => Promise<T>): Promise<T> {
  const left = new AbortController();
  const leave = (): void => left.abort(new Error('the client has gone'));
  raw.once('close', leave);
  try {
    return await work(left.signal);
  } finally {
    raw.off('close', leave);
  }
}
