import { putToSleep, type OpenContext, type OpenSandbox } from './open-sandbox.ts';
import { lookEveryMs, makingRoom, shouldSleep, type RestPlan } from './rest-plan.ts';
import type { Entry, SharedStart } from './sandbox-entry.ts';

const ROOM_RECHECK_MS = 250;

export interface SandboxRestOptions {
  readonly context: OpenContext;
  readonly plan: RestPlan;
  /** Those of the server; what is put to sleep leaves them. */
  readonly entries: Map<string, Entry>;
  readonly onAsleep: (conversationId: string) => void;
  /** Its time is over. */
  readonly end: (conversationId: string, reason: string) => void;
}

export interface SandboxRest {
  /** Resolves when one more may be awake; the least recently used that have nothing to lose go to sleep for it. */
  findRoom(start: SharedStart, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Puts the sandboxes that a server holds to sleep, as its plan says: the idle ones, and others for want of room. */
export function createSandboxRest({ context, plan, entries, onAsleep, end }: SandboxRestOptions): SandboxRest {
  const now = (): number => context.clock.now().getTime();
  const looking = setInterval(() => void look(), lookEveryMs(plan)).unref();

  async function findRoom(start: SharedStart, signal: AbortSignal): Promise<void> {
    const isFull = (): boolean =>
      [...entries.values()].filter((entry) => entry.state !== 'starting' || entry.start.hasRoom).length >= plan.maxLive;
    for (let round = 0; isFull(); round += 1) {
      for (const { conversationId, entry } of makingRoom(awake())) {
        if (isFull()) await doze(conversationId, entry, round > 0);
      }
      if (isFull()) await context.clock.sleep(ROOM_RECHECK_MS, { signal });
    }
    start.hasRoom = true;
  }

  function awake() {
    return [...entries].flatMap(([conversationId, entry]) =>
      entry.state === 'live'
        ? [{ conversationId, entry, idleMs: entry.open.use.idleMs(), refusedMsAgo: now() - (entry.refused?.at ?? 0) }]
        : [],
    );
  }

  /** Those that are idle sleep, those whose time is over end. */
  async function look(): Promise<void> {
    for (const one of awake()) {
      const { conversationId, entry } = one;
      const age = now() - Date.parse(entry.open.record.started_at);
      if (age >= plan.maxMs) end(conversationId, `its time of ${plan.maxMs / 1000} seconds is over`);
      else {
        const wish = shouldSleep(one, plan);
        if (wish) await doze(conversationId, entry, wish.withKernel);
      }
    }
  }

  /** Resolves when it sleeps, or is as it was. */
  async function doze(conversationId: string, entry: Entry & { state: 'live' }, withKernel: boolean): Promise<void> {
    if (context.driver.canSleep !== true || entries.get(conversationId) !== entry) return;
    const { open } = entry;
    const done = fallAsleep(conversationId, open, withKernel);
    entries.set(conversationId, { state: 'dozing', open, done });
    await done;
  }

  async function fallAsleep(conversationId: string, open: OpenSandbox, withKernel: boolean): Promise<void> {
    const isDozing = (): boolean => {
      const entry = entries.get(conversationId);
      return entry?.state === 'dozing' && entry.open === open;
    };
    try {
      const reason = await putToSleep(context, open, withKernel);
      if (!isDozing()) return; // it was stopped meanwhile
      if (reason === undefined) {
        entries.delete(conversationId);
        onAsleep(conversationId);
      } else entries.set(conversationId, { state: 'live', open, refused: { at: now(), reason } });
    } catch (error) {
      context.notice(`the sandbox of ${conversationId} did not go to sleep cleanly: ${String(error)}`);
      if (isDozing()) entries.delete(conversationId);
    }
  }

  return { findRoom, close: () => clearInterval(looking) };
}
