import { setTimeout as delay } from 'node:timers/promises';
import { createProxy, type Proxy, type ProxyOptions } from '../egress/listen-proxy.ts';
import { RequestRefused } from '../transport/executor-connection.ts';
import type { ExecutorClient } from './executor-client.ts';

/** Of connections that wait inside for something to leave: a page opens about six at once. */
const SPARE = 6;
const AGAIN_MS = [100, 500, 2000, 5000] as const;
const ASK_AGAIN_STATUS = 204;

/**
 * The egress proxy of a sandbox that cannot reach this server: what leaves it comes over connections that this server makes to its executor, so the
 * sandbox needs no network at all. Owns those connections until they end. Each serves one connection of the inside, and is then replaced.
 */
export function carryEgress(client: Pick<ExecutorClient, 'takeEgress'>, options: ProxyOptions): Proxy {
  const proxy = createProxy(options);
  const closing = new AbortController();
  const { signal } = closing;

  async function keepOne(): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      try {
        const socket = await client.takeEgress({ signal });
        failures = 0;
        socket.on('error', () => socket.destroy());
        proxy.server.emit('connection', socket);
      } catch (error) {
        if (error instanceof RequestRefused && error.status === ASK_AGAIN_STATUS) continue;
        // It is suspended, broken or gone; the watch says which.
        const waitMs = AGAIN_MS[Math.min(failures, AGAIN_MS.length - 1)]!;
        failures += 1;
        await delay(waitMs, undefined, { signal, ref: false }).catch(() => {});
      }
    }
  }

  for (let n = 0; n < SPARE; n += 1) void keepOne();
  return {
    async close() {
      closing.abort();
      proxy.close();
    },
  };
}
