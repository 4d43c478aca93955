import { type Runtime, type Runtimes } from '@tendon/core';
import { abortable } from '@tendon/protocol/async';
import { detachSandbox, endSandbox, hibernateSandbox, logLastLines } from '../sandbox/end-sandbox.ts';
import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';
import { attachSandbox } from '../sandbox/open-sandbox.ts';
import { isExecutorSuspended } from '../sandbox/process-memory.ts';
import type { SandboxContext } from '../sandbox/sandbox-context.ts';
import { messageOf } from '../sandbox/start-phase.ts';
import { REMOUNTED } from '../sandbox/start-notice.ts';
import { findReplaced } from '../workspace/protected/protect.ts';
import { admission, beginStart, joinStart, type StartGates } from './shared-start.ts';
import type { SandboxEntry } from './sandbox-entry.ts';

export interface HeldOptions extends Pick<StartGates, 'findCapacity'> {
  readonly context: SandboxContext;
  /** By conversation; shared with the code that counts and suspends sandboxes. */
  readonly entries: Map<string, SandboxEntry>;
}

/** How many sandboxes start at the same time; the others wait (HLD4). */
const MAX_PARALLEL_STARTS = 4;

/**
 * The sandboxes that this process holds, at most one per conversation. Owns their starts and ends.
 *
 * HLD1  An incarnation is handed out only after its record is durable.
 * HLD2  Callers share a start; one that goes away aborts neither the start nor the others' wait.
 * HLD3  A conversation's next sandbox does not start before its last one has ended and its files are removed.
 * HLD4  A start needs capacity and a turn; attaching to a living sandbox needs neither.
 */
export class HeldSandboxes {
  readonly #context: SandboxContext;
  readonly #entries: Map<string, SandboxEntry>;
  readonly #gates: StartGates;
  /** Resolves when the sandboxes that an earlier server left alive are among the entries. */
  #living: Promise<void> = Promise.resolve();
  #isShut = false;

  constructor({ context, entries, findCapacity }: HeldOptions) {
    this.#context = context;
    this.#entries = entries;
    this.#gates = {
      admit: admission(MAX_PARALLEL_STARTS),
      findCapacity: async (start, signal) => {
        await this.#living;
        await findCapacity(start, signal);
      },
    };
  }

  /** The live sandbox; starts one if there is none. */
  async acquire(conversationId: string, options: Parameters<Runtimes['acquire']>[1]): Promise<Runtime> {
    const { signal } = options;
    for (;;) {
      signal.throwIfAborted();
      if (this.#isShut) throw new Error('the server is shutting down');
      const entry = this.#entries.get(conversationId);
      const live = this.#liveRuntime(conversationId, entry);
      if (live !== undefined) return live;
      if (entry?.state === 'live') continue; // it was found dead, and is ending now
      if (entry?.state !== 'changing' && entry?.state !== 'hibernating')
        return joinStart(entry ?? this.#beginStart(conversationId), options);
      await abortable(
        entry.done.catch(() => {}),
        signal,
      );
    }
  }

  /** The live sandbox, if there is one. */
  live(conversationId: string): Runtime | undefined {
    return this.#liveRuntime(conversationId, this.#entries.get(conversationId));
  }

  /** Resolves when the sandbox has ended and `clear` has removed the rest; the next one does not start before (HLD3). */
  end(conversationId: string, reason: string, clear?: () => Promise<void>): Promise<void> {
    const before = this.#entries.get(conversationId);
    return this.#noticed(
      conversationId,
      this.#beginChange(conversationId, async () => {
        if (!(await this.#end(conversationId, before, reason))) return;
        await clear?.();
      }),
    );
  }

  /** Detaches from the sandbox without ending it. */
  detach(conversationId: string): Promise<void> {
    const before = this.#entries.get(conversationId);
    if (before === undefined) return Promise.resolve();
    return this.#noticed(
      conversationId,
      this.#beginChange(conversationId, async () => {
        const open = await openOf(before);
        if (open !== undefined) await detachSandbox(open);
      }),
    );
  }

  /** Ends the sandbox, with its state stored if the driver can, so that the next one mounts the workspace anew. */
  async remount(conversationId: string): Promise<void> {
    const entry = this.#entries.get(conversationId);
    if (entry?.state === 'live') return this.#startAnew(conversationId, entry.open, REMOUNTED);
    if (entry !== undefined) await this.end(conversationId, REMOUNTED);
  }

  /** Delays the conversation's next sandbox until the work is done; `undefined` when this process already has an entry for it. */
  claim(conversationId: string, work: (isWanted: () => boolean) => Promise<void>): Promise<void> | undefined {
    return this.#entries.has(conversationId) ? undefined : this.#beginChange(conversationId, work);
  }

  /** Attaches to the sandboxes that an earlier server left alive (HLD4); no sandbox starts before these are known. */
  async adoptLiving(): Promise<void> {
    const { records, driver, reapers, places, owners } = this.#context;
    const adopted: Promise<void>[] = [];
    const claimAll = async (): Promise<void> => {
      for await (const record of records.all()) {
        const { conversation_id: id } = record;
        const isOurs = record.state === 'live' && record.driver === driver.name && places.reaches(record) && owners.has(id);
        if (isOurs && reapers.isAlive(record)) adopted.push(this.claim(id, (isWanted) => this.#adopt(id, isWanted)) ?? Promise.resolve());
      }
    };
    const claimed = claimAll();
    this.#living = claimed.catch(() => {});
    await claimed;
    await Promise.all(adopted);
  }

  /** Refuses to hand out sandboxes from now on. */
  shut(): void {
    this.#isShut = true;
  }

  /** Detaches from all sandboxes, which live on for their lease; with `stopSandboxes`, ends them. */
  async release({ stopSandboxes }: { readonly stopSandboxes: boolean }): Promise<void> {
    const held = [...this.#entries];
    if (stopSandboxes) await Promise.allSettled(held.map(([conversationId]) => this.end(conversationId, 'the server was shut down')));
    else await Promise.allSettled(held.map(([, entry]) => release(entry)));
    this.#entries.clear();
  }

  #beginStart(conversationId: string): SandboxEntry & { state: 'starting' } {
    const { start, opened } = beginStart(this.#context, conversationId, this.#gates);
    const isCurrent = (): boolean => this.#entries.get(conversationId) === entry;
    const entered = opened.then(
      (open) => {
        // A concurrent stop has replaced the entry, and ends the sandbox that it finds here.
        if (isCurrent()) this.#enterLive(conversationId, open);
        return open;
      },
      (error: unknown) => {
        if (isCurrent()) this.#entries.delete(conversationId);
        throw error;
      },
    );
    entered.catch(() => {}); // every caller may have gone (HLD2)
    const entry = { state: 'starting', start, opened: entered } as const;
    this.#entries.set(conversationId, entry);
    return entry;
  }

  #enterLive(conversationId: string, open: OpenSandbox): void {
    // The earlier server may have left the sandbox suspended.
    this.#entries.set(conversationId, { state: 'live', open, ...(isExecutorSuspended(open.handle) && { suspendedAt: open.use.count() }) });
    void open.watch.lost.then((reason) => this.#onLost(conversationId, open, reason));
    void open.fenced.then(() => (this.#isHeld(conversationId, open) ? this.detach(conversationId) : undefined));
  }

  #isHeld(conversationId: string, open: OpenSandbox): boolean {
    const entry = this.#entries.get(conversationId);
    return entry?.state === 'live' && entry.open === open;
  }

  #onLost(conversationId: string, open: OpenSandbox, reason: string): void {
    if (!this.#isHeld(conversationId, open)) return;
    this.#context.notice(`sandbox ${open.runtime.incarnation} of conversation ${conversationId}: ${reason}`);
    void this.end(conversationId, reason);
  }

  /** Checks the process table too: the watcher may not have noticed yet. */
  #liveRuntime(conversationId: string, entry: SandboxEntry | undefined): Runtime | undefined {
    if (entry?.state !== 'live') return undefined;
    const { open } = entry;
    const { handle, use, runtime, watch, workspace } = open;
    const isAlive = this.#context.driver.isAlive(handle);
    const keep = (): Runtime => {
      use.touch();
      return runtime;
    };
    // Leave a busy sandbox alone: its programs may be the only ones that still have the replaced files open.
    if (isAlive && use.isUsed()) return keep();
    if (isAlive && workspace?.isRemoved() !== true) {
      const replaced = workspace && handle.protection && findReplaced(workspace, handle.protection);
      if (replaced === undefined) return keep();
      void this.#startAnew(conversationId, open, `${replaced} of its workspace was replaced: the next sandbox protects what is there now`);
      return undefined;
    }
    const reason = isAlive ? 'the folder of its workspace was removed' : 'the sandbox ended';
    watch.report(reason);
    void this.end(conversationId, reason);
    return undefined;
  }

  /** Hibernates the sandbox if the driver can, so that the next one is restored from it; otherwise ends it. */
  #startAnew(conversationId: string, open: OpenSandbox, reason: string): Promise<void> {
    const { driver, notice } = this.#context;
    notice(`sandbox ${open.runtime.incarnation} of conversation ${conversationId}: ${reason}`);
    const before = this.#entries.get(conversationId);
    const done = this.#beginChange(conversationId, async () => {
      const isHibernated = driver.whenIdle === 'hibernate' && (await hibernateSandbox(this.#context, open, true)) === undefined;
      if (!isHibernated) await this.#end(conversationId, before, reason);
    });
    return this.#noticed(conversationId, done);
  }

  /** From this tick on, callers that want the conversation's sandbox wait for the work (HLD3). */
  #beginChange(conversationId: string, work: (isWanted: () => boolean) => Promise<void>): Promise<void> {
    const isWanted = (): boolean => this.#entries.get(conversationId) === entry;
    const done = Promise.resolve()
      .then(() => work(isWanted))
      .finally(() => {
        if (isWanted()) this.#entries.delete(conversationId);
      });
    const entry: SandboxEntry = { state: 'changing', done };
    this.#entries.set(conversationId, entry);
    return done;
  }

  /** Logs a failure, whether or not a caller waits for the result. */
  #noticed(conversationId: string, ended: Promise<void>): Promise<void> {
    ended.catch((error: unknown) => this.#context.notice(`the sandbox of ${conversationId} did not end cleanly: ${String(error)}`));
    return ended;
  }

  async #adopt(conversationId: string, isWanted: () => boolean): Promise<void> {
    const open = await attachSandbox(this.#context, conversationId, new AbortController().signal).catch((error: unknown) => {
      this.#context.notice(`the sandbox of ${conversationId} was not found again: ${messageOf(error)}`);
    });
    if (!open) return;
    // A concurrent stop ends the sandbox that the record names.
    if (this.#isShut || !isWanted()) return detachSandbox(open);
    this.#enterLive(conversationId, open);
  }

  /** False when another server has the conversation: then the sandbox is that server's, and this one only detaches from it. */
  async #end(conversationId: string, entry: SandboxEntry | undefined, reason: string): Promise<boolean> {
    const { records, owners, places } = this.#context;
    const open = await openOf(entry);
    open?.watch.report(reason);
    if (open !== undefined) await detachSandbox(open);
    if (!(await owners.mayTouch(conversationId))) return false;
    const record = await records.get(conversationId);
    const isNewer = open !== undefined && record?.incarnation !== open.record.incarnation;
    if (record === undefined || record.state === 'ended' || isNewer || !places.reaches(record)) return true;
    await logLastLines(this.#context, record);
    await endSandbox(this.#context, record, reason);
    return true;
  }
}

/** Aborts a start, or waits until nothing hibernates or changes the sandbox; resolves with the sandbox to detach from. */
async function openOf(entry: SandboxEntry | undefined): Promise<OpenSandbox | undefined> {
  if (entry?.state === 'changing') await entry.done.catch(() => {}); // the caller that began it got the error
  if (entry?.state === 'hibernating') await entry.done;
  if (entry?.state === 'live' || entry?.state === 'hibernating') return entry.open;
  if (entry?.state !== 'starting') return undefined;
  entry.start.abort.abort(new Error('the sandbox was stopped'));
  return entry.opened.catch(() => undefined);
}

async function release(entry: SandboxEntry): Promise<void> {
  if (entry.state === 'changing') return entry.done;
  if (entry.state === 'live') return detachSandbox(entry.open);
  if (entry.state === 'hibernating') return entry.done.then(() => detachSandbox(entry.open));
  entry.start.abort.abort(new Error('the server is shutting down'));
  const open = await entry.opened.catch(() => undefined);
  if (open !== undefined) await detachSandbox(open);
}
