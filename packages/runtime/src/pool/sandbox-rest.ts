import { putToSleep } from '../sandbox/end-sandbox.ts';
import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';
import type { SandboxContext } from '../sandbox/sandbox-context.ts';
import { messageOf } from '../sandbox/start-phase.ts';
import { isAsleep, type Entry } from './sandbox-entry.ts';
import type { SharedStart } from './shared-start.ts';

const ROOM_RECHECK_MS = 250;
/** So many times the sandboxes that may be awake are there at most, with those that sleep in their places. */
const ASLEEP_PER_AWAKE = 4;

export interface SandboxRestOptions {
  readonly context: SandboxContext;
  readonly plan: RestPlan;
  /** Those of the server; what is put to sleep leaves them. */
  readonly entries: Map<string, Entry>;
  readonly onAsleep: (conversationId: string) => void;
  /** Its time is over. */
  readonly end: (conversationId: string, reason: string) => void;
}

export interface SleepWish {
  /** It stands still, and wakes by itself; else it ends. */
  readonly inPlace: boolean;
  /** Also when the variables of a kernel are lost by it. */
  readonly withKernel: boolean;
}

/** Puts the sandboxes that a server holds to sleep, as its plan says: the idle ones, and others for want of room. */
export class SandboxRest {
  readonly #context: SandboxContext;
  readonly #plan: RestPlan;
  readonly #entries: Map<string, Entry>;
  readonly #onAsleep: SandboxRestOptions['onAsleep'];
  readonly #end: SandboxRestOptions['end'];
  readonly #looking: NodeJS.Timeout;

  constructor({ context, plan, entries, onAsleep, end }: SandboxRestOptions) {
    this.#context = context;
    this.#plan = plan;
    this.#entries = entries;
    this.#onAsleep = onAsleep;
    this.#end = end;
    this.#looking = setInterval(() => void this.#look(), lookEveryMs(plan)).unref();
  }

  /** Resolves when one more may be awake; the least recently used that have nothing to lose go to sleep for it. */
  async findCapacity(start: SharedStart, signal: AbortSignal): Promise<void> {
    const isFull = (): boolean => this.#awakeCount() >= this.#plan.maxLive;
    for (let round = 0; isFull(); round += 1) {
      for (const { conversationId, entry } of makingRoom(this.#awake())) {
        if (isFull()) await this.#rest(conversationId, entry, round > 0);
      }
      if (isFull()) await this.#context.clock.sleep(ROOM_RECHECK_MS, { signal });
    }
    this.#endOldest();
    start.hasCapacity = true;
  }

  /** Because somebody else asks, who keeps in mind that it sleeps; resolves with why not when it stays awake. */
  async sleep(conversationId: string, { inPlace, withKernel }: SleepWish): Promise<string | undefined> {
    const entry = this.#entries.get(conversationId);
    if (entry?.state !== 'live') return 'it is not awake';
    if (!inPlace) return this.#doze(conversationId, entry.open, withKernel);
    const answer = await entry.open.client.standStill();
    return answer.slept ? undefined : answer.reason;
  }

  close(): void {
    clearInterval(this.#looking);
  }

  #now(): number {
    return this.#context.clock.now().getTime();
  }

  #awakeCount(): number {
    return [...this.#entries.values()].filter((entry) => (entry.state === 'starting' ? entry.start.hasCapacity : !isAsleep(entry))).length;
  }

  /** Those that sleep in their places keep their memory: of too many the one goes whose sleep is the longest. */
  #endOldest(): void {
    const asleep = this.#live().filter(({ entry }) => isAsleep(entry));
    const tooMany = asleep.length - (ASLEEP_PER_AWAKE - 1) * this.#plan.maxLive;
    const longest = asleep.toSorted((a, b) => b.entry.open.use.idleMs() - a.entry.open.use.idleMs());
    for (const { conversationId } of longest.slice(0, Math.max(0, tooMany)))
      this.#end(conversationId, 'its place was needed while it slept');
  }

  #live(): readonly { readonly conversationId: string; readonly entry: Entry & { readonly state: 'live' } }[] {
    return [...this.#entries].flatMap(([conversationId, entry]) => (entry.state === 'live' ? [{ conversationId, entry }] : []));
  }

  #awake() {
    return this.#live()
      .filter(({ entry }) => !isAsleep(entry))
      .map((one) => ({
        ...one,
        idleMs: one.entry.open.use.idleMs(),
        refusedMsAgo: this.#now() - (one.entry.refused?.at ?? 0),
      }));
  }

  /** Those that are idle sleep, those whose time is over end. */
  async #look(): Promise<void> {
    const { maxMs, maxLive } = this.#plan;
    for (const { conversationId, entry } of this.#live()) {
      const age = this.#now() - Date.parse(entry.open.record.started_at);
      if (age >= maxMs) this.#end(conversationId, `its time of ${maxMs / 1000} seconds is over`);
    }
    for (const one of this.#awake()) {
      const wish = shouldSleep(one, this.#plan);
      if (wish) await this.#rest(one.conversationId, one.entry, wish.withKernel);
    }
    // Those that slept in their places come back without asking for room.
    for (const { conversationId, entry } of makingRoom(this.#awake()))
      if (this.#awakeCount() > maxLive) await this.#rest(conversationId, entry, false);
  }

  /** Resolves when it sleeps, or is as it was. */
  async #rest(conversationId: string, entry: Entry & { state: 'live' }, withKernel: boolean): Promise<void> {
    const { sleeps } = this.#context.driver;
    if (sleeps === undefined || this.#entries.get(conversationId) !== entry) return;
    if (sleeps === 'in-place') await this.#standStill(conversationId, entry.open);
    else await this.#doze(conversationId, entry.open, withKernel);
  }

  /** An action that comes in between wakes it, whatever the answer was. */
  async #standStill(conversationId: string, open: OpenSandbox): Promise<void> {
    const used = open.use.count();
    const answer = await open.client.standStill().catch((error: unknown) => ({ slept: false, reason: messageOf(error) }) as const);
    const entry = this.#entries.get(conversationId);
    if (entry?.state !== 'live' || entry.open !== open) return;
    if (!answer.slept) return this.#refused(conversationId, open, answer.reason);
    this.#entries.set(conversationId, { state: 'live', open, asleepAt: used });
    if (open.use.count() === used) this.#onAsleep(conversationId);
  }

  #refused(conversationId: string, open: OpenSandbox, reason: string): void {
    this.#entries.set(conversationId, { state: 'live', open, refused: { at: this.#now(), reason } });
  }

  /** Resolves with why not, when it is as it was. */
  #doze(conversationId: string, open: OpenSandbox, withKernel: boolean): Promise<string | undefined> {
    const asked = this.#fallAsleep(conversationId, open, withKernel);
    this.#entries.set(conversationId, { state: 'dozing', open, done: asked });
    return asked;
  }

  async #fallAsleep(conversationId: string, open: OpenSandbox, withKernel: boolean): Promise<string | undefined> {
    const isDozing = (): boolean => {
      const entry = this.#entries.get(conversationId);
      return entry?.state === 'dozing' && entry.open === open;
    };
    try {
      const reason = await putToSleep(this.#context, open, withKernel);
      if (!isDozing()) return 'it was stopped meanwhile';
      if (reason === undefined) {
        this.#entries.delete(conversationId);
        this.#onAsleep(conversationId);
        return undefined;
      }
      this.#refused(conversationId, open, reason);
      // Over a network the answer can be lost, and the sandbox have gone all the same.
      const lost = await Promise.race([open.watch.lost, Promise.resolve(undefined)]);
      if (lost !== undefined) this.#end(conversationId, lost);
      return reason;
    } catch (error) {
      this.#context.notice(`the sandbox of ${conversationId} did not go to sleep cleanly: ${String(error)}`);
      if (isDozing()) this.#entries.delete(conversationId);
      return undefined;
    }
  }
}

/** When sandboxes sleep and end, and how many are awake. */
export interface RestPlan {
  /** Without use for so long, a sandbox sleeps; one with a kernel after `KERNEL_IDLE_FACTOR` times as long. */
  readonly idleMs: number;
  /** Whatever it does, it ends after so long. */
  readonly maxMs: number;
  /** So many are awake at most. */
  readonly maxLive: number;
}

export const DEFAULT_REST: RestPlan = { idleMs: 900_000, maxMs: Infinity, maxLive: 32 };

/** A kernel's variables cannot be kept: it is given longer. */
const KERNEL_IDLE_FACTOR = 4;
/** What could not sleep is not asked again for so long. */
const ASK_AGAIN_MS = 60_000;
/** When there is no room, one that was used just now is still spared: its next action may be on the way. */
const SPARED_MS = 1000;

/** What is looked at of each sandbox that is awake. */
export interface Awake {
  readonly idleMs: number;
  /** Since it was last asked to sleep in vain. */
  readonly refusedMsAgo: number;
}

/** Whether it should sleep now; `withKernel`: even if it has one. */
function shouldSleep({ idleMs, refusedMsAgo }: Awake, plan: RestPlan): false | { readonly withKernel: boolean } {
  if (idleMs < plan.idleMs || refusedMsAgo < Math.min(ASK_AGAIN_MS, plan.idleMs)) return false;
  return { withKernel: idleMs >= plan.idleMs * KERNEL_IDLE_FACTOR };
}

/** Who makes room, the least recently used first. */
function makingRoom<T extends Awake>(all: readonly T[]): readonly T[] {
  return all.filter(({ idleMs }) => idleMs >= SPARED_MS).toSorted((a, b) => b.idleMs - a.idleMs);
}

/** How often is looked. */
function lookEveryMs({ idleMs, maxMs }: RestPlan): number {
  return Math.max(50, Math.min(30_000, idleMs / 4, maxMs / 20));
}
