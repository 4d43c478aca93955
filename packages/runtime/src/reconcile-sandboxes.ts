import { endSandbox, type OpenContext } from './open-sandbox.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/**
 * What an earlier server left: live sandboxes of existing conversations are kept, to be attached to when they are needed;
 * everything else that is ours ends, with its folders. `isHeld` = this process has it in hand already.
 */
export async function reconcileSandboxes(
  context: OpenContext,
  isHeld: (conversationId: string) => boolean,
): Promise<{ readonly kept: number; readonly reaped: number }> {
  const kept = new Set<string>();
  let reaped = 0;
  for await (const record of context.records.all()) {
    const verdict = isHeld(record.conversation_id) ? 'keep' : await judge(context, record);
    if (verdict === 'keep') kept.add(record.incarnation);
    else if (await reap(context, record, verdict)) reaped += 1;
  }
  for (const { sandbox, incarnation } of await context.folders.list()) {
    if (kept.has(incarnation)) continue;
    await context.driver.endByIncarnation(incarnation);
    await context.folders.removeIncarnation(sandbox, incarnation);
    reaped += 1;
  }
  for (const { incarnation, remove } of await context.folders.abandoned()) {
    await context.driver.endByIncarnation(incarnation);
    await remove();
  }
  for (const incarnation of (await context.driver.strays?.(context.folders.stateRoot)) ?? []) {
    if (kept.has(incarnation)) continue;
    await context.driver.endByIncarnation(incarnation);
    reaped += 1;
  }
  return { kept: kept.size, reaped };
}

async function judge(context: OpenContext, record: SandboxRecord): Promise<'keep' | 'end' | 'forget'> {
  if ((await context.workspaceOf(record.conversation_id)) === undefined) return 'forget';
  if (record.state === 'live' && record.driver === context.driver.name && context.driver.isAlive(record.handle)) return 'keep';
  return 'end';
}

async function reap(context: OpenContext, record: SandboxRecord, verdict: 'end' | 'forget'): Promise<boolean> {
  const hadSandbox = record.state !== 'ended';
  try {
    if (hadSandbox) await endSandbox(context, record, 'the server was started without it');
    if (verdict === 'forget') {
      await context.folders.removeSandbox(context.folders.nameOf(record.conversation_id));
      await context.driver.forget?.(record.conversation_id, { workspace: true });
      await context.records.delete(record.conversation_id);
    }
  } catch (error) {
    context.notice(`sandbox ${record.incarnation} could not be reaped: ${String(error)}`);
  }
  return hadSandbox;
}
