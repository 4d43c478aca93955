import { putToSleep } from '../sandbox/end-sandbox.ts';
import type { OpenSandbox } from '../sandbox/hold-sandbox.ts';
import type { SandboxContext } from '../sandbox/sandbox-context.ts';
import { lookEveryMs, makingRoom, shouldSleep, type RestPlan } from './rest-plan.ts';
import { messageOf } from '../sandbox/start-phase.ts';
import { isAsleep, type Entry, type SharedStart } from './sandbox-entry.ts';

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

export interface SandboxRest {
  /** Resolves when one more may be awake; the least recently used that have nothing to lose go to sleep for it. */
  findRoom(start: SharedStart, signal: AbortSignal): Promise<void>;
  /** Because somebody else asks, who keeps in mind that it sleeps; resolves with why not when it stays awake. */
  sleep(conversationId: string, wish: SleepWish): Promise<string | undefined>;
  close(): void;
}

/** Puts the sandboxes that a server holds to sleep, as its plan says: the idle ones, and others for want of room. */
export function createSandboxRest({ context, plan, entries, onAsleep, end }: SandboxRestOptions): SandboxRest {
  const now = (): number => context.clock.now().getTime();
  const looking = setInterval(() => void look(), lookEveryMs(plan)).unref();

  async function findRoom(start: SharedStart, signal: AbortSignal): Promise<void> {
    const isFull = (): boolean => awakeCount() >= plan.maxLive;
    for (let round = 0; isFull(); round += 1) {
      for (const { conversationId, entry } of makingRoom(awake())) {
        if (isFull()) await rest(conversationId, entry, round > 0);
      }
      if (isFull()) await context.clock.sleep(ROOM_RECHECK_MS, { signal });
    }
    endOldest();
    start.hasRoom = true;
  }

  function awakeCount(): number {
    return [...entries.values()].filter((entry) => (entry.state === 'starting' ? entry.start.hasRoom : !isAsleep(entry))).length;
  }

  /** Those that sleep in their places keep their memory: of too many the one goes whose sleep is the longest. */
  function endOldest(): void {
    const asleep = live().filter(({ entry }) => isAsleep(entry));
    const tooMany = asleep.length - (ASLEEP_PER_AWAKE - 1) * plan.maxLive;
    const longest = asleep.toSorted((a, b) => b.entry.open.use.idleMs() - a.entry.open.use.idleMs());
    for (const { conversationId } of longest.slice(0, Math.max(0, tooMany))) end(conversationId, 'its place was needed while it slept');
  }

  function live(): readonly { readonly conversationId: string; readonly entry: Entry & { readonly state: 'live' } }[] {
    return [...entries].flatMap(([conversationId, entry]) => (entry.state === 'live' ? [{ conversationId, entry }] : []));
  }

  function awake() {
    return live()
      .filter(({ entry }) => !isAsleep(entry))
      .map((one) => ({ ...one, idleMs: one.entry.open.use.idleMs(), refusedMsAgo: now() - (one.entry.refused?.at ?? 0) }));
  }

  /** Those that are idle sleep, those whose time is over end. */
  async function look(): Promise<void> {
    for (const { conversationId, entry } of live()) {
      const age = now() - Date.parse(entry.open.record.started_at);
      if (age >= plan.maxMs) end(conversationId, `its time of ${plan.maxMs / 1000} seconds is over`);
    }
    for (const one of awake()) {
      const wish = shouldSleep(one, plan);
      if (wish) await rest(one.conversationId, one.entry, wish.withKernel);
    }
    // Those that slept in their places come back without asking for room.
    for (const { conversationId, entry } of makingRoom(awake())) if (awakeCount() > plan.maxLive) await rest(conversationId, entry, false);
  }

  /** Resolves when it sleeps, or is as it was. */
  async function rest(conversationId: string, entry: Entry & { state: 'live' }, withKernel: boolean): Promise<void> {
    if (context.driver.sleeps === undefined || entries.get(conversationId) !== entry) return;
    if (context.driver.sleeps === 'in-place') await standStill(conversationId, entry.open);
    else await doze(conversationId, entry.open, withKernel);
  }

  /** An action that comes in between wakes it, whatever the answer was. */
  async function standStill(conversationId: string, open: OpenSandbox): Promise<void> {
    const used = open.use.count();
    const answer = await open.client.standStill().catch((error: unknown) => ({ slept: false, reason: messageOf(error) }) as const);
    const entry = entries.get(conversationId);
    if (entry?.state !== 'live' || entry.open !== open) return;
    if (!answer.slept) return void entries.set(conversationId, { state: 'live', open, refused: { at: now(), reason: answer.reason } });
    entries.set(conversationId, { state: 'live', open, asleepAt: used });
    if (open.use.count() === used) onAsleep(conversationId);
  }

  /** Resolves with why not, when it is as it was. */
  function doze(conversationId: string, open: OpenSandbox, withKernel: boolean): Promise<string | undefined> {
    const asked = fallAsleep(conversationId, open, withKernel);
    entries.set(conversationId, { state: 'dozing', open, done: asked });
    return asked;
  }

  async function fallAsleep(conversationId: string, open: OpenSandbox, withKernel: boolean): Promise<string | undefined> {
    const isDozing = (): boolean => {
      const entry = entries.get(conversationId);
      return entry?.state === 'dozing' && entry.open === open;
    };
    try {
      const reason = await putToSleep(context, open, withKernel);
      if (!isDozing()) return 'it was stopped meanwhile';
      if (reason === undefined) {
        entries.delete(conversationId);
        onAsleep(conversationId);
        return undefined;
      }
      entries.set(conversationId, { state: 'live', open, refused: { at: now(), reason } });
      // Over a network the answer can be lost, and the sandbox have gone all the same.
      const lost = await Promise.race([open.watch.lost, Promise.resolve(undefined)]);
      if (lost !== undefined) end(conversationId, lost);
      return reason;
    } catch (error) {
      context.notice(`the sandbox of ${conversationId} did not go to sleep cleanly: ${String(error)}`);
      if (isDozing()) entries.delete(conversationId);
      return undefined;
    }
  }

  return {
    findRoom,
    async sleep(conversationId, { inPlace, withKernel }) {
      const entry = entries.get(conversationId);
      if (entry?.state !== 'live') return 'it is not awake';
      if (!inPlace) return doze(conversationId, entry.open, withKernel);
      const answer = await entry.open.client.standStill();
      return answer.slept ? undefined : answer.reason;
    },
    close: () => clearInterval(looking),
  };
}
