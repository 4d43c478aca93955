/**
 * Owns how much each address, and each key there, may still ask: a bucket of tokens that fills again.
 *
 * RL1  The requests of this machine are never limited, and neither are sockets: coming back to a conversation is never delayed.
 * RL2  People behind one proxy have an address in common: each key, link and session has a bucket of its own there. What a proxy says
 *      of addresses is not believed.
 * RL3  Memory is bounded: at most `MAX_ADDRESSES` buckets, the one longest unused goes first.
 */
import { catalogError } from '@tendon/protocol';
import { needOf } from '../auth/access-table.ts';
import type { App } from './app.ts';
import { clientAddress } from './client-of.ts';
import { failureBody } from './failure.ts';

export interface RateLimit {
  /** Requests an address may make at once. */
  readonly burst: number;
  readonly perSecond: number;
  /** This machine has a bucket as well: a proxy may stand there, or a program that never gives up. */
  readonly limitsLoopback?: true;
}

/** 0.62 has 10 a second; a page that loads many files of a conversation needs more. */
const RATE_LIMIT: RateLimit = { burst: 300, perSecond: 50 };
const MAX_ADDRESSES = 10_000;

/** Seconds to wait, or `undefined` when the request may go on. `now` in milliseconds. */
export function createRateLimit(limit: RateLimit): (address: string, now: number, holder?: string) => number | undefined {
  const { burst, perSecond, limitsLoopback = false } = limit;
  const buckets = new Map<string, { tokens: number; at: number }>();
  return (address, now, holder = '') => {
    if (!limitsLoopback && isLoopback(address)) return undefined;
    const name = `${address} ${holder}`;
    const bucket = buckets.get(name) ?? { tokens: burst, at: now };
    buckets.delete(name);
    buckets.set(name, bucket);
    if (buckets.size > MAX_ADDRESSES) buckets.delete(buckets.keys().next().value!);
    const elapsed = Math.max(0, now - bucket.at) / 1000;
    bucket.tokens = Math.min(burst, bucket.tokens + elapsed * perSecond);
    bucket.at = now;
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perSecond);
    bucket.tokens -= 1;
    return undefined;
  };
}

/** Put after `authorize`, so that nobody without a key costs a bucket. */
export function limitRate(app: App, now: () => number, limit: RateLimit = RATE_LIMIT): void {
  const secondsToWait = createRateLimit(limit);
  app.addHook('onRequest', async (request, reply) => {
    if (needOf(request.method, request.routeOptions.url) === 'public') return;
    const seconds = secondsToWait(clientAddress(request.raw), now(), request.principal?.keyName);
    if (seconds === undefined) return;
    return reply
      .code(429)
      .header('retry-after', String(seconds))
      .send(failureBody(catalogError('TOO_MANY_REQUESTS')));
  });
}

function isLoopback(address: string): boolean {
  return address === '' || address === '::1' || /^(::ffff:)?127\./.test(address);
}
