import { endSandbox } from '../sandbox/end-sandbox.ts';
import type { SandboxContext } from '../sandbox/sandbox-context.ts';
import type { SandboxRecord } from '../sandbox/sandbox-record.ts';

export interface ReconcileOptions {
  /** This process has it in hand already. */
  readonly isHeld: (conversationId: string) => boolean;
  /** Those of existing conversations end too, with their homes. */
  readonly all?: boolean;
  /** Of existing conversations also those stay that another driver has started, as long as they live; else they end, for no start can use them. */
  readonly keepsOthers?: boolean;
}

/**
 * What an earlier server left: live sandboxes of existing conversations are kept, to be attached to when they are needed;
 * everything else that is ours ends, with its folders.
 */
export async function reconcileSandboxes(
  context: SandboxContext,
  { isHeld, all = false, keepsOthers = false }: ReconcileOptions,
): Promise<{ readonly kept: number; readonly reaped: number }> {
  const kept = new Set<string>();
  const held = new Set<string>();
  let reaped = 0;
  for await (const record of context.records.all()) {
    const verdict = isHeld(record.conversation_id) ? 'keep' : all ? 'empty' : await judge(context, record, keepsOthers);
    if (verdict === 'keep') {
      kept.add(record.incarnation);
      held.add(context.folders.nameOf(record.conversation_id));
    } else if (await reap(context, record, verdict)) reaped += 1;
  }
  for (const { sandbox, incarnation } of await context.folders.list()) {
    if (kept.has(incarnation)) continue;
    await context.reapers.endByIncarnation(incarnation);
    await context.folders.removeIncarnation(sandbox, incarnation);
    reaped += 1;
  }
  if (all) await context.folders.removeUnused((sandbox) => held.has(sandbox));
  for (const { incarnation, remove } of await context.folders.abandoned()) {
    await context.reapers.endByIncarnation(incarnation);
    await remove();
  }
  for (const incarnation of await context.reapers.strays(context.folders.stateRoot)) {
    if (kept.has(incarnation)) continue;
    await context.reapers.endByIncarnation(incarnation);
    reaped += 1;
  }
  return { kept: kept.size, reaped };
}

/** Empty: nothing of its files is left; forgotten: neither is its record. */
type Verdict = 'keep' | 'end' | 'empty' | 'forget';

async function judge(context: SandboxContext, record: SandboxRecord, keepsOthers: boolean): Promise<Verdict> {
  if ((await context.workspaceOf(record.conversation_id)) === undefined) return 'forget';
  if ((keepsOthers || record.driver === context.driver.name) && context.reapers.isAlive(record)) return 'keep';
  return 'end';
}

async function reap(context: SandboxContext, record: SandboxRecord, verdict: Exclude<Verdict, 'keep'>): Promise<boolean> {
  const hadSandbox = record.state !== 'ended';
  try {
    if (hadSandbox) await endSandbox(context, record, 'the server was started without it');
    if (verdict !== 'end') await context.folders.removeSandbox(context.folders.nameOf(record.conversation_id));
    if (verdict === 'forget') {
      await context.driver.forget?.(record.conversation_id, { workspace: true });
      await context.records.delete(record.conversation_id);
    }
  } catch (error) {
    context.notice(`sandbox ${record.incarnation} could not be reaped: ${String(error)}`);
  }
  return hadSandbox;
}
