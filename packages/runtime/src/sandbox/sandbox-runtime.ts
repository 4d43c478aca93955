import { createHash } from 'node:crypto';
import type { ExecuteOptions, ExecuteResult, RunnableAction, Runtime, RuntimeFacts, Clock } from '@tendon/core';
import type { ObservationDraft } from '@tendon/protocol';
import type { DiskWatch } from '../disk/disk-watch.ts';
import { ActionStream, type ActionStreamParts, type EffectName } from './action-stream.ts';
import { type LimitWatch, withNotes } from './limit-notes.ts';
import { observed } from './observed.ts';
import type { SandboxPorts } from './sandbox-ports.ts';

export interface SandboxRuntimeParts extends ActionStreamParts, Required<RuntimeFacts> {
  readonly conversationId: string;
  readonly lost: Promise<string>;
  readonly limits: LimitWatch;
  /** Added once, to the next observation. */
  readonly notice: string | undefined;
  readonly disk: DiskWatch;
}

/**
 * Actions of one incarnation.
 *
 * SRT1  A key is only ever sent to the incarnation it was meant for; the executor runs it at most once, however often it is sent.
 * SRT2  "Not started" is reported only when the key cannot have been sent before: the caller knows that, and the connection was never made, or
 *       led to a host that has no such sandbox. The wall clock plays no part.
 * SRT3  A running action has no deadline here, but an executor that does not answer does.
 */
export function createSandboxRuntime(parts: SandboxRuntimeParts): Runtime {
  const { client, incarnation } = parts;
  let lostReason: string | undefined;
  let { notice } = parts;
  void parts.lost.then((reason) => (lostReason = reason));

  const keyOf = (id: number, epoch: string | undefined): string => [parts.conversationId, ...(epoch ? [epoch] : []), id].join(':');

  async function execute(action: RunnableAction, options: ExecuteOptions): Promise<ExecuteResult> {
    const name = { key: keyOf(action.id, options.epoch), digest: actionDigest(action) };
    if (action.executor !== undefined && action.executor !== incarnation)
      return (await recorded(action, name)) ?? { outcome: 'unknown', reason: 'the sandbox that was to run it is gone' };
    const isFresh = options.isFresh === true;
    if (options.signal.aborted && (isFresh || (await neverSeen(name)))) return { outcome: 'not-started', reason: 'it was cancelled first' };
    const refusal = isFresh ? parts.disk.refusal(action) : undefined;
    if (refusal !== undefined) return { outcome: 'observed', observation: diskRefusal(refusal) };
    const withLimits = parts.limits.begin();
    const disk = parts.disk.begin();
    const signal = AbortSignal.any([options.signal, disk.signal]);
    const result = withLimits(await new ActionStream(action, name, parts, { ...options, signal }, () => lostReason).run());
    const note = await disk.end(result);
    return withNotice(note === undefined ? result : withNotes(result, [note]));
  }

  function withNotice(result: ExecuteResult): ExecuteResult {
    // The text of a file is shown as it is: it waits for the next.
    if (notice === undefined || result.outcome !== 'observed' || result.observation.observation === 'read') return result;
    const noted = withNotes(result, [notice]);
    notice = undefined;
    return noted;
  }

  /** What the journal, which outlives incarnations, knows of an action of an earlier one. Nothing is run for it. */
  async function recorded(action: RunnableAction, { key, digest }: EffectName): Promise<ExecuteResult | undefined> {
    const report = await client.effect(key, digest).catch(() => undefined);
    if (report?.state !== 'done') return undefined;
    return { outcome: 'observed', observation: observed(action.action, report.observation) };
  }

  function neverSeen({ key, digest }: EffectName): Promise<boolean> {
    return client.effect(key, digest).then(
      (report) => report.state === 'never-seen',
      () => false,
    );
  }

  return {
    incarnation,
    strength: parts.strength,
    description: parts.description,
    workspace: parts.workspace,
    isReadOnly: parts.isReadOnly,
    lost: parts.lost,
    execute,
    output: (actionId, offset, { signal, epoch }) => client.output(keyOf(actionId, epoch), offset, { signal }),
    files: {
      ...client.files,
      async write(...args) {
        if (parts.disk.isOver()) throw new Error(parts.disk.words());
        await client.files.write(...args);
      },
    },
  };
}

function diskRefusal(why: string): ObservationDraft {
  return { observation: 'error', content: `Nothing was written: ${why}`, extras: { error_id: 'SANDBOX$DISK_FULL' } };
}

/**
 * Distinguishes an action from every other: kind, arguments, time limit and time of the event, in any order of keys. The text that a
 * model wrote for a drafted edit is not part of it, because a model that is asked again writes another.
 */
function actionDigest({ action, args, timeout, timestamp }: RunnableAction): string {
  const { drafted: _drafted, ...asked } = args as Readonly<Record<string, unknown>>;
  return createHash('sha256')
    .update(JSON.stringify([action, asked, timeout ?? null, timestamp], sorted))
    .digest('hex');
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether somebody uses a sandbox, and since when nobody does. */
export interface SandboxUse {
  /** Somebody is about to. */
  touch(): void;
  /** Whether something runs in it. */
  isUsed(): boolean;
  /** Milliseconds without use; 0 while it is used. */
  idleMs(): number;
  /** How often it has been used; nobody has come in between while it is the same. */
  count(): number;
}

export interface CountedUse {
  readonly runtime: Runtime;
  readonly ports: SandboxPorts;
  readonly use: SandboxUse;
}

/** The same runtime and ports, counted. */
export function countUse(runtime: Runtime, ports: SandboxPorts, clock: Clock): CountedUse {
  let uses = 0;
  let running = 0;
  let usedAt = clock.now().getTime();
  const touch = (): void => {
    uses += 1;
    usedAt = clock.now().getTime();
  };

  async function during<T>(work: Promise<T>): Promise<T> {
    running += 1;
    touch();
    try {
      return await work;
    } finally {
      running -= 1;
      touch();
    }
  }

  const { files } = runtime;
  return {
    runtime: {
      ...runtime,
      execute: (...args) => during(runtime.execute(...args)),
      output: (...args) => during(runtime.output(...args)),
      files: {
        list: (...args) => during(files.list(...args)),
        read: (...args) => during(files.read(...args)),
        write: (...args) => during(files.write(...args)),
        checkpoints: (...args) => during(files.checkpoints(...args)),
        compareCheckpoint: (...args) => during(files.compareCheckpoint(...args)),
        checkpointFile: (...args) => during(files.checkpointFile(...args)),
        linesToEdit: (...args) => during(files.linesToEdit(...args)),
      },
    },
    ports: {
      ...ports,
      connect: (...args) => during(ports.connect(...args)),
      startPlugin: (...args) => during(ports.startPlugin(...args)),
    },
    use: {
      touch,
      isUsed: () => running > 0,
      idleMs: () => (running > 0 ? 0 : Math.max(0, clock.now().getTime() - usedAt)),
      count: () => uses,
    },
  };
}
