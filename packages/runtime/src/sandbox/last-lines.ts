import { startLogOf, type SandboxHandle } from '../drivers/driver.ts';
import { logTail } from '../processes/start-log.ts';
import type { SandboxContext } from './sandbox-context.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/** What the start and the executor have printed last; empty where nothing can be read. Before its folders are removed. Never rejects. */
export async function lastLines(
  { driver, folders }: SandboxContext,
  { conversation_id: conversationId, incarnation }: Pick<SandboxRecord, 'conversation_id' | 'incarnation'>,
  handle: SandboxHandle | undefined,
): Promise<string> {
  if (handle !== undefined && driver.lastLines !== undefined) return driver.lastLines(handle).catch(() => '');
  return logTail(startLogOf(folders.of(conversationId, incarnation)));
}

/** Of a sandbox that ended by itself: into the log with what it has to say. */
export async function tellLastLines(context: SandboxContext, record: SandboxRecord): Promise<void> {
  if (record.state !== 'live' || record.driver !== context.driver.name || context.driver.isAlive(record.handle)) return;
  const lines = await lastLines(context, record, record.handle);
  if (lines !== '')
    context.notice(`sandbox ${record.incarnation} of conversation ${record.conversation_id} ended and said last:\n${lines}`);
}
