import { setTimeout as delay } from 'node:timers/promises';
import type { ApiCall, ApiClient } from './api-client.ts';
import { ApiError, ApiUnreachable } from './api-error.ts';

/** An API server that is upgraded or has lost its etcd is back by then, or something is wrong. */
const AWAY_MS = 30_000;
const AGAIN_MS = 250;
const PASSING_CODES = /^(?:ECONNREFUSED|ECONNRESET|EPIPE|EHOSTUNREACH|ETIMEDOUT)$/;
/** It is too busy, has not read everything yet, or a proxy before it finds nobody. */
const PASSING_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const REFUSALS: ReadonlySet<number> = new Set([401, 403]);

/**
 * Asks again while the API server is away, for half a minute at most, and where it is just back: until it has read who may do what, it refuses
 * everybody. Whatever is asked through it may be asked twice: an answer can be lost, so that what was to be made is there, and what was to be
 * deleted is gone.
 */
export function patientClient(client: ApiClient): ApiClient {
  let awayAt = -Infinity;
  const isPassing = (error: unknown): boolean => {
    if (isAway(error)) awayAt = performance.now();
    else if (!(error instanceof ApiError && REFUSALS.has(error.status))) return false;
    return performance.now() - awayAt < AWAY_MS;
  };

  async function untilItIsBack<T>({ signal }: ApiCall, ask: () => Promise<T>): Promise<T> {
    for (const end = performance.now() + AWAY_MS; ;) {
      try {
        return await ask();
      } catch (error) {
        if (!isPassing(error) || signal?.aborted || performance.now() > end) throw error;
        await delay(AGAIN_MS, undefined, { signal }).catch(() => {
          throw error;
        });
      }
    }
  }

  return {
    json: (call) => untilItIsBack(call, () => client.json(call)),
    text: (call) => untilItIsBack(call, () => client.text(call)),
    async *lines<T>(call: ApiCall & { readonly signal: AbortSignal }): AsyncGenerator<T> {
      try {
        yield* client.lines<T>(call);
      } catch (error) {
        // A watch that breaks is the first to notice.
        if (!(error instanceof ApiError) && !call.signal.aborted) awayAt = performance.now();
        throw error;
      }
    },
  };
}

function isAway(error: unknown): boolean {
  if (error instanceof ApiUnreachable) return PASSING_CODES.test(error.code);
  if (!(error instanceof ApiError)) return false;
  // etcd has no leader just now.
  return PASSING_STATUS.has(error.status) || (error.status === 500 && error.message.includes('etcdserver:'));
}
