import type { ExecutorClient } from './executor-client.ts';
import { AddressRefused } from '../egress/dial.ts';
import type { GitBroker } from '../egress/git-broker.ts';
import { createProxy } from '../egress/listen-proxy.ts';

export interface CallAnswerer {
  /** A connection waits under this name. Never throws. */
  take(id: string): void;
  close(): void;
}

const MAX_CALLS = 64;
const TAKE_MS = 10_000;

/**
 * Answers what comes from within a sandbox on another host and is for its server: git, whose tokens are here and go nowhere else.
 * The host reports that a connection waits, it is fetched by the sandbox's own name, so who calls is known, and is then one to the
 * broker, as if the sandbox were here. Owns the connections until they end.
 */
export function createCallAnswerer(client: Pick<ExecutorClient, 'takeCall'>, git: GitBroker): CallAnswerer {
  const proxy = createProxy({ git, dial: () => Promise.reject(new AddressRefused('only git is asked for here')) });
  const closing = new AbortController();
  let open = 0;

  async function join(id: string): Promise<void> {
    try {
      const socket = await client.takeCall(id, { signal: AbortSignal.any([closing.signal, AbortSignal.timeout(TAKE_MS)]) });
      socket.on('error', () => socket.destroy());
      proxy.server.emit('connection', socket);
      await new Promise((resolve) => socket.once('close', resolve));
    } catch {
      // Somebody else took it, or it was given up.
    } finally {
      open -= 1;
    }
  }

  return {
    take(id) {
      if (open >= MAX_CALLS || closing.signal.aborted) return; // the host reports it to the caller after a while
      open += 1;
      void join(id);
    },
    close() {
      closing.abort();
      proxy.close();
    },
  };
}
