import { abortable, type Runtime, type Runtimes, type StartPhase } from '@tendon/core';
import { endSandbox, letGo, putToSleep } from '../sandbox/end-sandbox.ts';
import { findReplaced } from '../workspace/protected/protect.ts';
import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';
import { tellLastLines } from '../sandbox/last-lines.ts';
import { attachSandbox, openSandbox } from '../sandbox/open-sandbox.ts';
import { standsStill } from '../sandbox/process-memory.ts';
import type { SandboxContext } from '../sandbox/sandbox-context.ts';
import type { Entry, SharedStart } from './sandbox-entry.ts';
import { inPhase, messageOf, StartFailed } from '../sandbox/start-phase.ts';
import { admission } from './admission.ts';

const MAX_STARTS = 3;
const ROOM_DEADLINE_MS = 60_000;

export interface HeldSandboxes {
  /** The live one, started when there is none. */
  readonly acquire: Runtimes['acquire'];
  /** The live one, without starting any. */
  live(conversationId: string): Runtime | undefined;
  /** Resolves when the sandbox has ended and `clear` has removed the rest; the next one does not start before. */
  end(conversationId: string, reason: string, clear?: () => Promise<void>): Promise<void>;
  /** Delays the conversation's next sandbox until the work is done; `undefined` when this process already has an entry for it. */
  claim(conversationId: string, work: () => Promise<void>): Promise<void> | undefined;
  /** Attaches to the sandboxes that an earlier server left alive; no sandbox starts before these are known. */
  adoptLiving(): Promise<void>;
  /** From now on none is handed out. */
  shut(): void;
  /** Lets go of all: they live on for their lease, to be found again. With `stopSandboxes` they end. */
  release(options: { readonly stopSandboxes: boolean }): Promise<void>;
}

export interface HeldOptions {
  readonly context: SandboxContext;
  /** By conversation; shared with the code that counts sandboxes and puts them to sleep. */
  readonly entries: Map<string, Entry>;
  /** Resolves when one more may be started. */
  readonly findRoom: (start: SharedStart, signal: AbortSignal) => Promise<void>;
  readonly maxParallelStarts: number;
}

/**
 * The sandboxes that this process holds, at most one per conversation: their starts and their ends. Invariants:
 * 1. An incarnation is handed out only after its record is durable.
 * 2. Callers share a start; one of them going away ends neither the start nor the others' wait.
 * 3. A conversation's next sandbox does not start before its last one has ended and its files are removed.
 * 4. A start needs room and a turn; attaching to a living sandbox needs neither.
 */
export function createHeldSandboxes({ context, entries, findRoom, maxParallelStarts }: HeldOptions): HeldSandboxes {
  const admit = admission(maxParallelStarts);
  let isClosed = false;
  /** Those that live are among the entries. */
  let living: Promise<void> = Promise.resolve();

  function beginStart(conversationId: string): Entry & { state: 'starting' } {
    const start: SharedStart = {
      abort: new AbortController(),
      unwanted: new AbortController(),
      listeners: new Set(),
      phase: 'starting',
      hasRoom: false,
    };
    const { signal } = start.abort;
    const onPhase = (phase: StartPhase, detail?: string): void => {
      start.phase = phase;
      for (const listener of start.listeners) listener(phase, detail);
    };
    const findPlace = (): Promise<void> =>
      inPhase({ name: 'finding room for it', deadlineMs: ROOM_DEADLINE_MS, signal }, async (within) => {
        await living;
        await findRoom(start, within);
      });
    const admitted = <T>(begin: () => Promise<T>): Promise<T> =>
      admit(async () => {
        if (!start.hasRoom) await findPlace();
        return begin();
      }, signal);
    const opened = openPersistently(context, conversationId, { signal, unwanted: start.unwanted.signal, onPhase, admit: admitted }).then(
      (open) => {
        // A stop that came meanwhile has put its own entry and ends what it finds here.
        if (isCurrent(conversationId, start)) enterLive(conversationId, open);
        return open;
      },
      (error: unknown) => {
        if (isCurrent(conversationId, start)) entries.delete(conversationId);
        throw error;
      },
    );
    opened.catch(() => {}); // every caller may have gone
    const entry = { state: 'starting', start, opened } as const;
    entries.set(conversationId, entry);
    return entry;
  }

  function isCurrent(conversationId: string, start: SharedStart): boolean {
    const entry = entries.get(conversationId);
    return entry?.state === 'starting' && entry.start === start;
  }

  function enterLive(conversationId: string, open: OpenSandbox): void {
    // A sandbox that was found again may be suspended.
    entries.set(conversationId, { state: 'live', open, ...(standsStill(open.handle) && { asleepAt: open.use.count() }) });
    void open.watch.lost.then((reason) => onLost(conversationId, open, reason));
  }

  /** Asks the process table too: the watcher may not have noticed yet. */
  function liveRuntime(conversationId: string, entry: Entry | undefined): Runtime | undefined {
    if (entry?.state !== 'live') return undefined;
    const { open } = entry;
    const { handle, use, runtime, watch, workspace } = open;
    const isAlive = context.driver.isAlive(handle);
    const keep = (): Runtime => {
      use.touch();
      return runtime;
    };
    // While something runs in it, that is not taken away: it may be all that still has the files open.
    if (isAlive && use.isUsed()) return keep();
    if (isAlive && workspace?.isRemoved() !== true) {
      const replaced = workspace && handle.protection && findReplaced(workspace, handle.protection);
      if (replaced === undefined) return keep();
      startAnew(conversationId, open, `${replaced} of its workspace was replaced: the next sandbox protects what is there now`);
      return undefined;
    }
    const reason = isAlive ? 'the folder of its workspace was removed' : 'the sandbox ended';
    watch.report(reason);
    void beginEnd(conversationId, reason);
    return undefined;
  }

  function onLost(conversationId: string, open: OpenSandbox, reason: string): void {
    const entry = entries.get(conversationId);
    if (entry?.state !== 'live' || entry.open !== open) return;
    context.notice(`sandbox ${open.runtime.incarnation} of conversation ${conversationId}: ${reason}`);
    void beginEnd(conversationId, reason);
  }

  /** Where it can it goes to sleep, so that the next one goes on where it was; else it ends. */
  function startAnew(conversationId: string, open: OpenSandbox, reason: string): void {
    context.notice(`sandbox ${open.runtime.incarnation} of conversation ${conversationId}: ${reason}`);
    const before = entries.get(conversationId);
    const done = beginChange(conversationId, async () => {
      const slept = context.driver.sleeps === 'ended' && (await putToSleep(context, open, true)) === undefined;
      if (!slept) await end(conversationId, before, reason);
    });
    done.catch((error: unknown) => context.notice(`the sandbox of ${conversationId} did not end cleanly: ${String(error)}`));
  }

  /** From this tick on callers that want the conversation's sandbox wait for the work. */
  function beginChange(conversationId: string, work: (isWanted: () => boolean) => Promise<void>): Promise<void> {
    const isWanted = (): boolean => entries.get(conversationId) === entry;
    const done = Promise.resolve()
      .then(() => work(isWanted))
      .finally(() => {
        if (isWanted()) entries.delete(conversationId);
      });
    const entry: Entry = { state: 'changing', done };
    entries.set(conversationId, entry);
    return done;
  }

  function beginEnd(conversationId: string, reason: string, clear?: () => Promise<void>): Promise<void> {
    const before = entries.get(conversationId);
    const ended = beginChange(conversationId, async () => {
      await end(conversationId, before, reason);
      await clear?.();
    });
    ended.catch((error: unknown) => context.notice(`the sandbox of ${conversationId} did not end cleanly: ${String(error)}`));
    return ended;
  }

  function claim(conversationId: string, work: (isWanted: () => boolean) => Promise<void>): Promise<void> | undefined {
    return entries.has(conversationId) ? undefined : beginChange(conversationId, work);
  }

  async function adoptLiving(): Promise<void> {
    const adopted: Promise<void>[] = [];
    const claimAll = async (): Promise<void> => {
      for await (const record of context.records.all()) {
        const isOurs = record.state === 'live' && record.driver === context.driver.name;
        if (isOurs && context.reapers.isAlive(record))
          adopted.push(claim(record.conversation_id, adopt(record.conversation_id)) ?? Promise.resolve());
      }
    };
    const claimed = claimAll();
    living = claimed.catch(() => {});
    await claimed;
    await Promise.all(adopted);
  }

  const adopt = (conversationId: string) => async (isWanted: () => boolean) => {
    const open = await attachSandbox(context, conversationId, new AbortController().signal).catch((error: unknown) => {
      context.notice(`the sandbox of ${conversationId} was not found again: ${messageOf(error)}`);
    });
    if (!open) return;
    // A stop that came meanwhile ends the sandbox that the record names.
    if (isClosed || !isWanted()) return letGo(open);
    enterLive(conversationId, open);
  };

  async function end(conversationId: string, entry: Entry | undefined, reason: string): Promise<void> {
    if (entry?.state === 'dozing') await entry.done;
    if (entry?.state === 'changing') await entry.done.catch(() => {}); // the caller that began it got the error
    if (entry?.state === 'starting') entry.start.abort.abort(new Error('the sandbox was stopped'));
    const open =
      entry?.state === 'live' || entry?.state === 'dozing'
        ? entry.open
        : entry?.state === 'starting'
          ? await entry.opened.catch(() => undefined)
          : undefined;
    open?.watch.report(reason);
    if (open !== undefined) await letGo(open);
    const record = await context.records.get(conversationId);
    if (record === undefined || record.state === 'ended') return;
    await tellLastLines(context, record);
    await endSandbox(context, record, reason);
  }

  return {
    async acquire(conversationId, { signal, onPhase, unwanted }): Promise<Runtime> {
      for (;;) {
        signal.throwIfAborted();
        if (isClosed) throw new Error('the server is shutting down');
        const entry = entries.get(conversationId);
        const live = liveRuntime(conversationId, entry);
        if (live !== undefined) return live;
        if (entry?.state === 'live') continue; // found dead: it is ending now
        if (entry?.state === 'changing' || entry?.state === 'dozing') {
          await abortable(
            entry.done.catch(() => {}),
            signal,
          );
          continue;
        }
        const { start, opened } = entry ?? beginStart(conversationId);
        if (onPhase) start.listeners.add(onPhase);
        onPhase?.(start.phase);
        const cancel = (): void => start.unwanted.abort();
        unwanted?.addEventListener('abort', cancel);
        if (unwanted?.aborted) cancel();
        try {
          return (await abortable(opened, signal)).runtime;
        } finally {
          if (onPhase) start.listeners.delete(onPhase);
          unwanted?.removeEventListener('abort', cancel);
        }
      }
    },
    live: (conversationId) => liveRuntime(conversationId, entries.get(conversationId)),
    end: beginEnd,
    claim,
    adoptLiving,
    shut: () => void (isClosed = true),
    async release({ stopSandboxes }) {
      const held = [...entries.entries()];
      if (stopSandboxes) await Promise.allSettled(held.map(([conversationId]) => beginEnd(conversationId, 'the server was shut down')));
      else await Promise.allSettled(held.map(([, entry]) => release(entry)));
      entries.clear();
    },
  };
}

/** A start that died is tried again: what ended one need not be there for the next. */
async function openPersistently(...[context, conversationId, options]: Parameters<typeof openSandbox>): Promise<OpenSandbox> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openSandbox(context, conversationId, options);
    } catch (error) {
      const isWorthIt = error instanceof StartFailed && !error.timedOut && !options.signal.aborted;
      if (attempt === MAX_STARTS || !isWorthIt) throw error;
      context.notice(`the sandbox of ${conversationId} is started again: ${error.message}`);
    }
  }
}

async function release(entry: Entry): Promise<void> {
  if (entry.state === 'changing') return entry.done;
  if (entry.state === 'live') return letGo(entry.open);
  if (entry.state === 'dozing') return entry.done.then(() => letGo(entry.open));
  entry.start.abort.abort(new Error('the server is shutting down'));
  const open = await entry.opened.catch(() => undefined);
  if (open !== undefined) await letGo(open);
}
