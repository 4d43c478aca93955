/**
 * Ends a sandbox whose executor shares no protocol version with this server, because another version of Tendon started it. Uses only what every
 * version has: `/sleep` and `/end_work`. A running action ends by itself, or is cancelled when its time is over; either way
 * its outcome is in the journal, where the next incarnation finds it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { BUSY, PROTOCOL, type ProtocolRange, type SuspendAnswer } from '@tendon/protocol/executor-api';
import type { ExecutorClient } from './executor-client.ts';
import { endSandbox } from './end-sandbox.ts';
import type { SandboxContext } from './sandbox-context.ts';
import type { SandboxRecord } from './sandbox-record.ts';
import { OUTDATED } from './start-notice.ts';
import { messageOf } from './start-phase.ts';

const ASK_AGAIN_MS = 200;
/** The time for a cancelled action to be killed, and its outcome to be written. */
const CANCELLED_MS = 30_000;
const PASSING: readonly string[] = Object.values(BUSY);

export function isSpoken([oldest, newest]: ProtocolRange): boolean {
  return oldest <= PROTOCOL[1] && newest >= PROTOCOL[0];
}

export interface RetireOptions {
  readonly client: ExecutorClient;
  /** Aborting ends the wait and leaves the sandbox as it is. */
  readonly signal: AbortSignal;
  /** Aborted when running actions must be cancelled at once. */
  readonly unwanted?: AbortSignal | undefined;
}

export async function retireSandbox(context: SandboxContext, record: SandboxRecord, options: RetireOptions): Promise<void> {
  context.notice(`sandbox ${record.incarnation} was started by another version of Tendon: it is replaced when nothing runs in it`);
  let isSaved = await storeState(context, options, context.outdatedMs);
  if (isSaved === 'busy') {
    context.notice(`what ran in sandbox ${record.incarnation} is cancelled`);
    await options.client.endWork().catch(() => {}); // it may know no such request, or be gone
    isSaved = await storeState(context, { ...options, unwanted: undefined }, CANCELLED_MS);
  }
  await endSandbox(context, record, OUTDATED, isSaved === 'saved' && context.driver.whenIdle === 'hibernate' ? 'asleep' : 'ended');
}

/** Whether the executor stored the state for the next one; or that an action still runs when the time is over. */
async function storeState(
  { driver }: SandboxContext,
  { client, signal, unwanted }: RetireOptions,
  forMs: number,
): Promise<'saved' | 'lost' | 'busy'> {
  const ask = (): Promise<SuspendAnswer> => (driver.whenIdle === 'suspend' ? client.suspend() : client.hibernate({ withKernel: true }));
  for (const end = performance.now() + forMs; ;) {
    const answer = await ask().catch((error: unknown) => ({ slept: false, reason: messageOf(error) }) as const);
    signal.throwIfAborted();
    if (answer.slept) return 'saved';
    if (!PASSING.includes(answer.reason)) return 'lost';
    if (performance.now() >= end || unwanted?.aborted) return 'busy';
    await delay(ASK_AGAIN_MS, undefined, { signal });
  }
}
