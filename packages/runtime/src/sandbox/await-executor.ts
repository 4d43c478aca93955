import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Alive } from '@tendon/protocol/executor-api';
import { watchFolder } from '../processes/watch-folder.ts';
import type { ExecutorClient } from './executor-client.ts';
import { SandboxGone } from '../transport/executor-connection.ts';

const RECHECK_MS = 25;
/** Right after something changed in the folder. */
const SOON_MS = 2;

export interface AwaitOptions {
  /** Where it will listen, if that is a unix socket. */
  readonly socketPath: string | undefined;
  readonly isAlive: () => boolean;
  readonly signal: AbortSignal;
}

/**
 * The first answer of an executor that is just starting. Wakes when its socket appears in the folder; checks now and then too,
 * for the moment between the socket's birth and its first listen. Rejects when `isAlive` says the process is gone, or whoever
 * stands before the sandbox does.
 */
export async function awaitExecutor(client: ExecutorClient, { socketPath, isAlive, signal }: AwaitOptions): Promise<Alive> {
  let wake = (): void => {};
  let isAwake = false;
  const stopWatching = socketPath === undefined ? () => {} : watchFolder(dirname(socketPath), () => wake());
  try {
    for (;;) {
      const changed = new Promise<boolean>((resolve) => (wake = () => resolve(true)));
      try {
        return await client.alive({ signal });
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SandboxGone) throw error;
      }
      if (!isAlive()) throw new Error('its process ended');
      isAwake = await Promise.race([changed, delay(isAwake ? SOON_MS : RECHECK_MS, false, { signal })]);
    }
  } finally {
    stopWatching();
  }
}
