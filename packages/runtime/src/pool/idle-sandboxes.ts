import { hibernateSandbox } from '../sandbox/end-sandbox.ts';
import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';
import type { SandboxContext } from '../sandbox/sandbox-context.ts';
import { messageOf } from '../sandbox/start-phase.ts';
import { isSuspended, type SandboxEntry } from './sandbox-entry.ts';
import type { SharedStart } from './shared-start.ts';

const CAPACITY_RECHECK_MS = 250;
const NOT_RUNNING = 'it is not running';
/** The maximum of existing sandboxes, running and suspended, as a multiple of `maxLive`. */
const HELD_PER_RUNNING = 4;

export interface IdleSandboxesOptions {
  readonly context: SandboxContext;
  readonly plan: IdlePlan;
  /** The sandboxes of this process; hibernating one removes its entry. */
  readonly entries: Map<string, SandboxEntry>;
  readonly onSuspended: (conversationId: string) => void;
  /** Ends a sandbox whose maximal age has passed. */
  readonly end: (conversationId: string, reason: string) => void;
  /** Detaches from a sandbox whose conversation another server has now. */
  readonly release: (conversationId: string) => void;
}

export interface HibernateRequest {
  /** Hibernate even if that loses the variables of a kernel. */
  readonly withKernel: boolean;
}

/** Suspends or hibernates sandboxes according to the idle plan: idle ones, and others to make room. */
export class IdleSandboxes {
  readonly #context: SandboxContext;
  readonly #plan: IdlePlan;
  readonly #entries: Map<string, SandboxEntry>;
  readonly #onSuspended: IdleSandboxesOptions['onSuspended'];
  readonly #end: IdleSandboxesOptions['end'];
  readonly #release: IdleSandboxesOptions['release'];
  readonly #looking: NodeJS.Timeout;

  constructor({ context, plan, entries, onSuspended, end, release }: IdleSandboxesOptions) {
    this.#context = context;
    this.#plan = plan;
    this.#entries = entries;
    this.#onSuspended = onSuspended;
    this.#end = end;
    this.#release = release;
    this.#looking = setInterval(() => void this.#look(), lookEveryMs(plan)).unref();
  }

  /** Resolves when one more may run. Makes room by suspending or hibernating the least recently used ones that lose nothing by it. */
  async findCapacity(start: Pick<SharedStart, 'hasCapacity'>, signal: AbortSignal): Promise<void> {
    const isFull = (): boolean => this.#runningCount() >= this.#plan.maxLive;
    for (let round = 0; isFull(); round += 1) {
      for (const { conversationId, entry } of makingRoom(this.#running())) {
        if (isFull()) await this.#pause(conversationId, entry, round > 0);
      }
      if (isFull()) await this.#context.clock.sleep(CAPACITY_RECHECK_MS, { signal });
    }
    this.#endOldest();
    start.hasCapacity = true;
  }

  /** Suspends the sandbox for a caller that records this itself. Resolves with the reason if it keeps running. */
  async suspend(conversationId: string): Promise<string | undefined> {
    const entry = this.#entries.get(conversationId);
    if (entry?.state !== 'live') return NOT_RUNNING;
    const answer = await entry.open.client.suspend();
    return answer.slept ? undefined : answer.reason;
  }

  /** Resolves with the reason if the sandbox keeps running. */
  async hibernate(conversationId: string, { withKernel }: HibernateRequest): Promise<string | undefined> {
    const entry = this.#entries.get(conversationId);
    return entry?.state === 'live' ? this.#hibernate(conversationId, entry.open, withKernel) : NOT_RUNNING;
  }

  close(): void {
    clearInterval(this.#looking);
  }

  #now(): number {
    return this.#context.clock.now().getTime();
  }

  #runningCount(): number {
    return [...this.#entries.values()].filter((entry) => (entry.state === 'starting' ? entry.start.hasCapacity : !isSuspended(entry)))
      .length;
  }

  /** Suspended sandboxes keep their memory, so when there are too many, those that were suspended first end. */
  #endOldest(): void {
    const suspended = this.#live().filter(({ entry }) => isSuspended(entry));
    const tooMany = suspended.length - (HELD_PER_RUNNING - 1) * this.#plan.maxLive;
    const longest = suspended.toSorted((a, b) => b.entry.open.use.idleMs() - a.entry.open.use.idleMs());
    for (const { conversationId } of longest.slice(0, Math.max(0, tooMany)))
      this.#end(conversationId, 'its place was needed while it was suspended');
  }

  #live(): readonly { readonly conversationId: string; readonly entry: SandboxEntry & { readonly state: 'live' } }[] {
    return [...this.#entries].flatMap(([conversationId, entry]) => (entry.state === 'live' ? [{ conversationId, entry }] : []));
  }

  #running() {
    return this.#live()
      .filter(({ entry }) => !isSuspended(entry))
      .map((one) => ({
        ...one,
        idleMs: one.entry.open.use.idleMs(),
        refusedMsAgo: this.#now() - (one.entry.refused?.at ?? 0),
      }));
  }

  /** Suspends or hibernates idle sandboxes, and ends those whose maximal age has passed. */
  async #look(): Promise<void> {
    const { maxMs, maxLive } = this.#plan;
    for (const { conversationId } of this.#live()) if (!this.#context.owners.has(conversationId)) this.#release(conversationId);
    for (const { conversationId, entry } of this.#live()) {
      const age = this.#now() - Date.parse(entry.open.record.started_at);
      if (age >= maxMs) this.#end(conversationId, `its time of ${maxMs / 1000} seconds is over`);
    }
    for (const one of this.#running()) {
      const request = shouldPause(one, this.#plan);
      if (request) await this.#pause(one.conversationId, one.entry, request.withKernel);
    }
    // Suspended sandboxes resume without asking for capacity.
    for (const { conversationId, entry } of makingRoom(this.#running()))
      if (this.#runningCount() > maxLive) await this.#pause(conversationId, entry, false);
  }

  /** Resolves when the sandbox is suspended or hibernated, or has refused. */
  async #pause(conversationId: string, entry: SandboxEntry & { state: 'live' }, withKernel: boolean): Promise<void> {
    const { whenIdle } = this.#context.driver;
    if (whenIdle === undefined || this.#entries.get(conversationId) !== entry) return;
    if (whenIdle === 'suspend') await this.#suspend(conversationId, entry.open);
    else await this.#hibernate(conversationId, entry.open, withKernel);
  }

  /** An action that arrives meanwhile resumes the sandbox, whatever the result is. */
  async #suspend(conversationId: string, open: OpenSandbox): Promise<void> {
    const used = open.use.count();
    const answer = await open.client.suspend().catch((error: unknown) => ({ slept: false, reason: messageOf(error) }) as const);
    const entry = this.#entries.get(conversationId);
    if (entry?.state !== 'live' || entry.open !== open) return;
    if (!answer.slept) return this.#refused(conversationId, open, answer.reason);
    this.#entries.set(conversationId, { state: 'live', open, suspendedAt: used });
    if (open.use.count() === used) this.#onSuspended(conversationId);
  }

  #refused(conversationId: string, open: OpenSandbox, reason: string): void {
    this.#entries.set(conversationId, { state: 'live', open, refused: { at: this.#now(), reason } });
  }

  /** Resolves with the reason if the sandbox was not hibernated. */
  #hibernate(conversationId: string, open: OpenSandbox, withKernel: boolean): Promise<string | undefined> {
    const done = this.#untilHibernated(conversationId, open, withKernel);
    this.#entries.set(conversationId, { state: 'hibernating', open, done });
    return done;
  }

  async #untilHibernated(conversationId: string, open: OpenSandbox, withKernel: boolean): Promise<string | undefined> {
    const isHibernating = (): boolean => {
      const entry = this.#entries.get(conversationId);
      return entry?.state === 'hibernating' && entry.open === open;
    };
    try {
      const reason = await hibernateSandbox(this.#context, open, withKernel);
      if (!isHibernating()) return 'it was stopped meanwhile';
      if (reason === undefined) {
        this.#entries.delete(conversationId);
        this.#onSuspended(conversationId);
        return undefined;
      }
      this.#refused(conversationId, open, reason);
      // Over a network the answer can be lost although the sandbox has ended.
      const lost = await Promise.race([open.watch.lost, Promise.resolve(undefined)]);
      if (lost !== undefined) this.#end(conversationId, lost);
      return reason;
    } catch (error) {
      this.#context.notice(`the sandbox of ${conversationId} was not hibernated cleanly: ${String(error)}`);
      if (isHibernating()) this.#entries.delete(conversationId);
      return undefined;
    }
  }
}

/** When idle sandboxes are suspended or hibernated, when any ends, and how many run at a time. */
export interface IdlePlan {
  /** After this time an unused sandbox is suspended or hibernated; one with a kernel is hibernated after `KERNEL_IDLE_FACTOR` times as long. */
  readonly idleMs: number;
  /** The maximal age: a sandbox ends then, whatever it does. */
  readonly maxMs: number;
  /** How many sandboxes run at most. */
  readonly maxLive: number;
}

export const DEFAULT_IDLE_PLAN: IdlePlan = { idleMs: 900_000, maxMs: Infinity, maxLive: 32 };

/** Hibernating loses a kernel's variables, so it waits longer. */
const KERNEL_IDLE_FACTOR = 4;
/** A sandbox that refused is not asked again for this time. */
const ASK_AGAIN_MS = 60_000;
/** A sandbox that was used this recently never makes room: its next action may be on the way. */
const SPARED_MS = 1000;

/** How long a running sandbox has been idle. */
interface Idleness {
  readonly idleMs: number;
  /** How long ago it last refused. */
  readonly refusedMsAgo: number;
}

/** Whether to suspend or hibernate the sandbox now; `withKernel`: even if it has a kernel. */
function shouldPause({ idleMs, refusedMsAgo }: Idleness, plan: IdlePlan): false | { readonly withKernel: boolean } {
  if (idleMs < plan.idleMs || refusedMsAgo < Math.min(ASK_AGAIN_MS, plan.idleMs)) return false;
  return { withKernel: idleMs >= plan.idleMs * KERNEL_IDLE_FACTOR };
}

/** The sandboxes that may make room, least recently used first. */
function makingRoom<T extends Idleness>(all: readonly T[]): readonly T[] {
  return all.filter(({ idleMs }) => idleMs >= SPARED_MS).toSorted((a, b) => b.idleMs - a.idleMs);
}

/** The interval between two checks. */
function lookEveryMs({ idleMs, maxMs }: IdlePlan): number {
  return Math.max(50, Math.min(30_000, idleMs / 4, maxMs / 20));
}
