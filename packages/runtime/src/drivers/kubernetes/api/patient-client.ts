import { setTimeout as delay } from 'node:timers/promises';
import type { ApiCall, ApiClient } from './api-client.ts';
import { ApiError, ApiUnreachable } from './api-error.ts';

/** An API server that is being upgraded or has lost its etcd should be back after this time. */
const AWAY_MS = 30_000;
const AGAIN_MS = 250;
const PASSING_CODES = /^(?:ECONNREFUSED|ECONNRESET|EPIPE|EHOSTUNREACH|ETIMEDOUT)$/;
/** The API server is too busy or still starting, or a proxy in front of it has no backend. */
const PASSING_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const REFUSALS: ReadonlySet<number> = new Set([401, 403]);

/**
 * Retries requests while the API server is away, for half a minute at most, and shortly after it is back: before it has read its RBAC rules,
 * it refuses everybody. A request may therefore be sent twice: if the first answer was lost, the object to create exists already, and the
 * object to delete is gone.
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
        // A broken watch is the first sign that the API server is away.
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
