import { endSandbox, recordEnd } from '../sandbox/end-sandbox.ts';
import { askedOf } from '../sandbox/reapers.ts';
import type { SandboxContext } from '../sandbox/sandbox-context.ts';
import { isThere, type SandboxRecord } from '../sandbox/sandbox-record.ts';
import type { HeldSandboxes } from './held-sandboxes.ts';

export interface ReconcileOptions {
  /** Whether this process already holds or changes the sandbox. */
  readonly isHeld: (conversationId: string) => boolean;
  readonly claim: HeldSandboxes['claim'];
  /** Remove the sandboxes of existing conversations too, with their homes. */
  readonly all?: boolean;
  /** Leave living sandboxes of another driver alone. Otherwise they end, because no start can use them. */
  readonly keepsOthers?: boolean;
}

/** What to do with a record: end its sandbox, also remove its files (`empty`), also remove the record (`forget`). */
type Verdict = 'keep' | 'end' | 'empty' | 'forget';

interface Doomed {
  readonly record: SandboxRecord;
  readonly verdict: Exclude<Verdict, 'keep'>;
}

/**
 * Sorts out the sandboxes that an earlier server left: living and hibernated ones of existing conversations stay for their next use; all
 * others of this server end, with their folders. Conversations may begin to use their sandboxes meanwhile:
 *
 * REC1  The search for sandboxes without a record comes before the records are read, so that it does not find later starts.
 * REC2  A conversation is claimed before its sandbox ends, so that its next one waits. One that is in use by then is left alone.
 * REC3  Sandboxes on another machine, or of a conversation that another living server has, are left alone.
 */
export async function reconcileSandboxes(
  context: SandboxContext,
  { isHeld, claim, all = false, keepsOthers = false }: ReconcileOptions,
): Promise<{ readonly kept: number; readonly reaped: number }> {
  const { reapers, places } = context;
  const folders = places.own;
  const found = await folders.list();
  const strays = await reapers.strays(folders.stateRoot); // before the records (REC1)
  const abandoned = await folders.abandoned();
  let untouched = 0;
  const used = new Set<string>();
  const known = new Set<string>();
  const doomed: Doomed[] = [];
  for await (const record of context.records.all()) {
    // Its place and its owner decide as REC3 says.
    const wanted =
      isHeld(record.conversation_id) || !places.reaches(record) ? 'keep' : all ? 'empty' : await judge(context, record, keepsOthers);
    const verdict = wanted === 'keep' || (await context.owners.mayTouch(record.conversation_id)) ? wanted : 'keep';
    known.add(record.incarnation);
    if (verdict !== 'keep') doomed.push({ record, verdict });
    else if (record.state !== 'ended') untouched += 1;
    if (verdict === 'keep') used.add(folders.nameOf(record.conversation_id));
  }
  const { reaped, spared } = await reapAll(context, doomed, claim);
  for (const { conversation_id: id } of spared) used.add(folders.nameOf(id));
  const left = found.filter(({ incarnation }) => !known.has(incarnation));
  const unknown = new Set([...left.map(({ incarnation }) => incarnation), ...strays.filter((incarnation) => !known.has(incarnation))]);
  await reapers.endIncarnations([...unknown, ...abandoned.map(({ incarnation }) => incarnation)]);
  for (const { sandbox, incarnation } of left) await folders.removeIncarnation(sandbox, incarnation);
  for (const { remove } of abandoned) await remove();
  if (all) {
    await folders.removeUnused(async () => {
      for await (const { conversation_id: id } of context.records.all()) if (isHeld(id)) used.add(folders.nameOf(id));
      return used;
    });
  }
  return { kept: untouched, reaped: reaped + unknown.size };
}

/** Whether this server started the sandbox. Only that server removes a sandbox that belongs to no conversation. */
function isOwn({ places }: SandboxContext, record: SandboxRecord): boolean {
  return places.foldersOf(record) === places.own;
}

async function judge(context: SandboxContext, record: SandboxRecord, keepsOthers: boolean): Promise<Verdict> {
  // A conversation whose workspace this server may not use is there all the same: its next start says why.
  const hasConversation = await context.workspaceOf(record.conversation_id).then(
    (workspace) => workspace !== undefined,
    () => true,
  );
  if (!hasConversation) return isOwn(context, record) ? 'forget' : 'keep';
  if (record.state === 'ended') return 'keep';
  if (!keepsOthers && record.driver !== context.driver.name) return 'end';
  // A hibernated sandbox has no processes; the next one continues from its state.
  return record.state === 'asleep' || context.reapers.isAlive(record) ? 'keep' : 'end';
}

/** Ends all that it can claim (REC2), with one scan of the machine. Resolves with their number, and with those that are in use by now. */
async function reapAll(
  context: SandboxContext,
  doomed: readonly Doomed[],
  claim: HeldSandboxes['claim'],
): Promise<{ readonly reaped: number; readonly spared: readonly SandboxRecord[] }> {
  const claimed: SandboxRecord[] = [];
  const spared: SandboxRecord[] = [];
  const ended = Promise.withResolvers<boolean>();
  const done = doomed.map((one) => {
    const work = claim(one.record.conversation_id, async () => reap(context, one, await ended.promise));
    (work === undefined ? spared : claimed).push(one.record);
    return work;
  });
  await context.reapers.end(claimed.filter(isThere)).then(
    () => ended.resolve(true),
    () => ended.resolve(false), // one of them does not end: end each on its own
  );
  await Promise.all(done);
  return { reaped: claimed.filter(({ state }) => state !== 'ended').length, spared };
}

async function reap(context: SandboxContext, { record, verdict }: Doomed, runsNoMore: boolean): Promise<void> {
  const { conversation_id: id, incarnation } = record;
  const why = 'the server was started without it';
  try {
    if ((await context.records.get(id))?.incarnation !== incarnation) return; // it was used meanwhile (REC2)
    if (record.state === 'asleep') await recordEnd(context, record, why);
    if (isThere(record)) await (runsNoMore ? recordEnd : endSandbox)(context, record, why);
    const folders = context.places.foldersOf(record);
    if (verdict !== 'end') await folders.removeSandbox(folders.nameOf(id));
    if (verdict === 'forget') {
      // A restore sets conversations aside without deleting them: leave the workspace where it is.
      await context.driver.forget?.(id, { workspace: record.state !== 'replaced', ...askedOf(record, context.owners) });
      await context.records.delete(id);
    }
  } catch (error) {
    context.notice(`sandbox ${incarnation} could not be reaped: ${String(error)}`);
  }
}
