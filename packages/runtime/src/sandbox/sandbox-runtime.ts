import type { ExecuteOptions, ExecuteResult, RunnableAction, Runtime, Strength } from '@tendon/core';
import type { ObservationDraft } from '@tendon/protocol';
import type { DiskWatch } from '../disk/disk-watch.ts';
import { ActionStream, type ActionStreamParts } from './action-stream.ts';
import type { LimitWatch } from './limit-notes.ts';
import { observed } from './observed.ts';
import { withNotes } from './with-notes.ts';

export interface SandboxRuntimeParts extends ActionStreamParts {
  readonly conversationId: string;
  readonly strength: Strength;
  readonly description: string;
  readonly workspace: string;
  /** When this server process got hold of this incarnation: what was appended later, nobody else can have dispatched. */
  readonly attachedAt: Date;
  /** When the incarnation before this one was handed out; `undefined` for the first. */
  readonly previousStartedAt: Date | undefined;
  readonly lost: Promise<string>;
  readonly limits: LimitWatch;
  /** Told once, beside the next observation. */
  readonly news: string | undefined;
  readonly disk: DiskWatch;
}

/**
 * Actions of one incarnation. Invariants:
 * 1. A key is only ever sent to the incarnation it was meant for; the executor runs it at most once, however often it is sent.
 * 2. "Not started" is said only when nobody can have sent the key before: the action is younger than this attachment and the
 *    connection was never made, or led to a host that has no such sandbox.
 * 3. A running action has no deadline here; an executor that does not answer has.
 */
export function createSandboxRuntime(parts: SandboxRuntimeParts): Runtime {
  const { client, incarnation } = parts;
  let lostReason: string | undefined;
  let { news } = parts;
  void parts.lost.then((reason) => (lostReason = reason));

  const elsewhere = (action: RunnableAction): string | undefined => {
    if (action.executor !== undefined && action.executor !== incarnation) return 'the sandbox that was to run it is gone';
    const { previousStartedAt } = parts;
    if (action.executor === undefined && previousStartedAt !== undefined && Date.parse(action.timestamp) < previousStartedAt.getTime()) {
      return 'a sandbox that is gone may have run it';
    }
    return undefined;
  };

  async function execute(action: RunnableAction, options: ExecuteOptions): Promise<ExecuteResult> {
    const gone = elsewhere(action);
    const key = `${parts.conversationId}:${action.id}`;
    if (gone !== undefined) return (await recorded(action, key)) ?? { outcome: 'unknown', reason: gone };
    const isFresh = Date.parse(action.timestamp) >= parts.attachedAt.getTime();
    if (options.signal.aborted && (await neverSeen(key, isFresh))) return { outcome: 'not-started', reason: 'it was cancelled first' };
    const refusal = isFresh ? parts.disk.refusal(action) : undefined;
    if (refusal !== undefined) return { outcome: 'observed', observation: diskRefusal(refusal) };
    const withLimits = parts.limits.begin();
    const disk = parts.disk.begin();
    const signal = AbortSignal.any([options.signal, disk.signal]);
    const result = withLimits(await new ActionStream(action, key, parts, { ...options, signal }, isFresh, () => lostReason).run());
    const note = await disk.end(result);
    return withNews(note === undefined ? result : withNotes(result, [note]));
  }

  function withNews(result: ExecuteResult): ExecuteResult {
    // The text of a file is shown as it is: it waits for the next.
    if (news === undefined || result.outcome !== 'observed' || result.observation.observation === 'read') return result;
    const told = withNotes(result, [news]);
    news = undefined;
    return told;
  }

  /** What the journal, which outlives incarnations, knows of an action of an earlier one. Nothing is run for it. */
  async function recorded(action: RunnableAction, key: string): Promise<ExecuteResult | undefined> {
    const report = await client.effect(key).catch(() => undefined);
    if (report?.state !== 'done') return undefined;
    return { outcome: 'observed', observation: observed(action.action, report.observation) };
  }

  async function neverSeen(key: string, isFresh: boolean): Promise<boolean> {
    if (isFresh) return true;
    return client.effect(key).then(
      (report) => report.state === 'never-seen',
      () => false,
    );
  }

  return {
    incarnation,
    strength: parts.strength,
    description: parts.description,
    workspace: parts.workspace,
    lost: parts.lost,
    execute,
    output: (actionId, offset, options) => client.output(`${parts.conversationId}:${actionId}`, offset, options),
    files: {
      list: client.listFiles,
      read: client.readFile,
      async write(...args) {
        if (parts.disk.isOver()) throw new Error(parts.disk.words());
        await client.writeFile(...args);
      },
      linesToEdit: client.linesToEdit,
    },
  };
}

function diskRefusal(why: string): ObservationDraft {
  return { observation: 'error', content: `Nothing was written: ${why}`, extras: { error_id: 'SANDBOX$DISK_FULL' } };
}
