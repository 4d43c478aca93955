import { askedOf } from './reapers.ts';
import type { SandboxContext } from './sandbox-context.ts';
import type { OpenSandbox } from './hold-sandbox.ts';
import type { SandboxRecord } from './sandbox-record.ts';
import { RESTORED } from './start-notice.ts';
import { messageOf } from './start-phase.ts';
import { startLogOf, type SandboxHandle } from '../drivers/driver.ts';
import { logTail } from '../processes/launch.ts';

/**
 * Ends it with its state stored, from which the next start restores it; resolves with the reason when it refuses. A crash on the way
 * loses nothing: the executor has stored everything before it answers, and until then nothing has ended.
 */
export async function hibernateSandbox(context: SandboxContext, open: OpenSandbox, withKernel: boolean): Promise<string | undefined> {
  const answer = await open.client
    .hibernate({ withKernel })
    .catch((error: unknown) => ({ slept: false, reason: messageOf(error) }) as const);
  if (!answer.slept) return answer.reason;
  open.watch.report('the sandbox was hibernated');
  await detachSandbox(open);
  await endSandbox(context, open.record, 'it was idle', 'asleep');
  return undefined;
}

/** Closes the connections of this process to it, without ending it. */
export async function detachSandbox(open: OpenSandbox): Promise<void> {
  open.watch.stop();
  open.disk.stop();
  open.stopWeighing();
  open.workspace?.close();
  open.client.close();
  open.ways.calls?.close();
  await Promise.all([open.ways.proxy?.close(), open.ways.browser?.close()]);
}

/** Ends what the record names and removes its folders; resolves when nothing is left and the record says so. */
export async function endSandbox(
  context: SandboxContext,
  record: SandboxRecord,
  reason: string,
  state: 'ended' | 'asleep' = 'ended',
): Promise<void> {
  await context.reapers.end([record]);
  await recordEnd(context, record, reason, state);
}

/** The second part of an end, when nothing of the sandbox runs any more. */
export async function recordEnd(
  context: SandboxContext,
  record: SandboxRecord,
  why: string,
  state: 'ended' | 'asleep' = 'ended',
): Promise<void> {
  const { records, places, driver, owners } = context;
  const isReplaced = record.state === 'replaced';
  if (isReplaced && record.driver === driver.name)
    await driver.forget?.(record.conversation_id, { workspace: false, ...askedOf(record, owners) });
  const reason = isReplaced ? RESTORED : why;
  const folders = places.foldersOf(record);
  await folders.removeIncarnation(folders.nameOf(record.conversation_id), record.incarnation);
  const { conversation_id, incarnation, workspace, started_at, given_bytes, host, workspace_is } = record;
  await records.replace({
    ...{ conversation_id, driver: record.driver, incarnation, workspace, started_at, state, reason },
    ...(given_bytes !== undefined && { given_bytes }),
    ...(host && { host }),
    ...(workspace_is !== undefined && { workspace_is }),
  });
}

/** What the start and the executor have printed last; empty where nothing can be read. Before its folders are removed. Never rejects. */
export async function lastLines(
  { driver, places }: SandboxContext,
  record: Pick<SandboxRecord, 'conversation_id' | 'incarnation' | 'host'>,
  handle: SandboxHandle | undefined,
): Promise<string> {
  if (handle !== undefined && driver.lastLines !== undefined) return driver.lastLines(handle).catch(() => '');
  return logTail(startLogOf(places.foldersOf(record).of(record.conversation_id, record.incarnation)));
}

/** Of a sandbox that ended by itself: its last lines go into the log. */
export async function logLastLines(context: SandboxContext, record: SandboxRecord): Promise<void> {
  if (record.state !== 'live' || record.driver !== context.driver.name || context.driver.isAlive(record.handle)) return;
  const lines = await lastLines(context, record, record.handle);
  if (lines !== '')
    context.notice(`sandbox ${record.incarnation} of conversation ${record.conversation_id} ended and printed last:\n${lines}`);
}
