import type { ExecuteResult, RunnableAction } from '@tendon/core';
import { sizeText } from '../size-text.ts';
import type { DiskUse } from './measure-disk.ts';

/** Sees to it that a sandbox takes no more of the disk than it may, by ending what writes. */
export interface DiskWatch {
  /** The newest figure; nothing before the first. */
  used(): DiskUse | undefined;
  isOver(): boolean;
  /** What is taken, what may be, and what to do. */
  words(): string;
  /** Why this action is not begun, as it would only write. */
  refusal(action: RunnableAction): string | undefined;
  /** Around an action: it is cancelled when `signal` aborts, and its result says why. */
  begin(): { readonly signal: AbortSignal; readonly end: (result: ExecuteResult) => Promise<string | undefined> };
  stop(): void;
}

export interface DiskWatchParts {
  readonly limitBytes: number;
  readonly measure: () => Promise<DiskUse>;
  /** What is free where the sandbox writes, bytes and entries, for all processes of the machine: cheap to ask. */
  readonly freeBytes: () => Promise<number>;
  /** Ends what the agent has started, in the background too. */
  readonly endWork: () => Promise<void>;
  /** It goes on writing whatever is done. */
  readonly giveUp: (reason: string) => void;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
}

/** How often is looked at what is free: a command that writes a gigabyte a second goes so far beyond, and what it takes to count. */
const LOOK_MS = 250;
/** While no action runs. */
const IDLE_LOOK_MS = 1000;
/** Others may give back as much as a sandbox takes: so long a count is believed at most. */
const COUNT_AGAIN_MS = 60_000;
/** Of the time, a tenth at most goes into counting. */
const REST_PER_COUNT = 9;
/** Beyond the limit, so much may still be written: by what cleans up. */
const SLACK_BYTES = 16 * 1024 ** 2;
/**
 * What goes on writing, though everything but the shell and the kernel was killed so often, may do so for so long, and for so much
 * or so many times its limit. How often counts too: on a busy disk one round alone takes longer, and a loop in the shell outlives
 * what it was waiting for until its command is cancelled.
 */
const STUBBORN_ENDS = 3;
const STUBBORN_MS = 10_000;
const STUBBORN_BYTES = 1024 ** 3;
const STUBBORN_LIMITS = 4;

/**
 * Invariants:
 * 1. Nothing is counted as long as the disk has not become fuller than what is left of the limit, but now and then.
 * 2. Beyond the limit whatever writes more is ended; what frees space, or only looks, is not.
 * 3. What goes on writing nevertheless ends with the sandbox.
 */
export function watchDisk(parts: DiskWatchParts): DiskWatch {
  const { limitBytes, now } = parts;
  const running = new Set<AbortController>();
  let used: DiskUse | undefined;
  let counted = { at: -Infinity, freeBytes: Infinity, tookMs: 0 };
  /** Beyond the limit: what may not be exceeded now. */
  let bound: number | undefined;
  /** When what writes was ended for the first time since it was below the limit, or an action began, and how often since. */
  let first: { readonly at: number; readonly bytes: number; ends: number } | undefined;
  let counting: Promise<void> | undefined;
  /** Nobody has asked anything of it since it was counted. */
  let isUntouched = false;
  let next: { readonly timer: NodeJS.Timeout; readonly at: number } | undefined;
  let isStopped = false;

  function count(): Promise<void> {
    counting ??= (async () => {
      const at = now();
      isUntouched = running.size === 0;
      const freeBytes = await parts.freeBytes();
      used = await parts.measure();
      counted = { at: now(), freeBytes, tookMs: now() - at };
      if (used.bytes <= limitBytes) bound = first = undefined;
    })().finally(() => (counting = undefined));
    return counting;
  }

  async function look(): Promise<void> {
    const free = await parts.freeBytes();
    // From the most that was free: what somebody gave back hides nothing that was taken since.
    counted.freeBytes = Math.max(counted.freeBytes, free);
    const taken = counted.freeBytes - free;
    const age = now() - counted.at;
    const isSuspect = (used?.bytes ?? 0) + taken > (bound ?? limitBytes) && age > counted.tookMs * REST_PER_COUNT;
    if (!isSuspect && age < COUNT_AGAIN_MS) return;
    if (!isSuspect && isUntouched && taken < SLACK_BYTES) return;
    await count();
    if (used!.bytes > (bound ?? limitBytes)) await endWork();
  }

  async function endWork(): Promise<void> {
    bound = used!.bytes + SLACK_BYTES;
    first ??= { at: now(), bytes: used!.bytes, ends: 0 };
    const isMuch = now() - first.at > STUBBORN_MS || used!.bytes - first.bytes > Math.min(STUBBORN_BYTES, STUBBORN_LIMITS * limitBytes);
    if (first.ends >= STUBBORN_ENDS && isMuch)
      return parts.giveUp(`it takes ${sizeText(used!.bytes)} on the disk, more than its ${sizeText(limitBytes)}, and goes on writing`);
    first.ends += 1;
    for (const each of running) each.abort(new Error('the disk'));
    await parts.endWork();
  }

  async function go(): Promise<void> {
    next = undefined;
    await look().catch(() => {}); // a disk that cannot be asked is asked again
    lookIn(running.size > 0 ? LOOK_MS : IDLE_LOOK_MS);
  }

  function lookIn(ms: number): void {
    if (!isStopped) next = { timer: setTimeout(() => void go(), ms).unref(), at: now() + ms };
  }

  /** An action has begun: it is looked at more often from now on. However many begin, none puts the next look off. */
  function hurry(): void {
    if (next === undefined || next.at <= now() + LOOK_MS) return;
    clearTimeout(next.timer);
    lookIn(LOOK_MS);
  }

  const words = (): string =>
    `the sandbox takes ${used?.isComplete === false ? 'at least ' : ''}${sizeText(used?.bytes ?? 0)} on the disk, and may take ${sizeText(limitBytes)}`;

  if (Number.isFinite(limitBytes)) lookIn(LOOK_MS);
  return {
    used: () => used,
    isOver: () => bound !== undefined,
    words: () => `${words()}. ${WHAT_TO_DO}.`,
    refusal(action) {
      return bound === undefined || !writesFile(action) ? undefined : `${words()}. ${WHAT_TO_DO}.`;
    },
    begin() {
      const ending = new AbortController();
      if (running.size === 0) first = undefined;
      running.add(ending);
      isUntouched = false;
      hurry();
      return {
        signal: ending.signal,
        async end(result) {
          running.delete(ending);
          const wasEnded = ending.signal.aborted && result.outcome !== 'not-started';
          if (bound !== undefined) await count().catch(() => {});
          const isOver = bound !== undefined;
          if (!wasEnded && !isOver) return undefined;
          const ended = wasEnded ? ', so this and what ran in the background was ended' : '';
          return isOver ? `${words()}${ended}. ${WHAT_TO_DO}` : `${words()}: it had been more than that${ended}`;
        },
      };
    },
    stop() {
      isStopped = true;
      clearTimeout(next?.timer);
    },
  };
}

const WHAT_TO_DO =
  'Remove what is not needed (`du -xh --max-depth=2 ~ . | sort -h | tail` shows what is large). Until then what writes much is ended and files are not written';

function writesFile({ action, args }: RunnableAction): boolean {
  return action === 'write' || (action === 'edit' && (args as { readonly command?: string }).command !== 'view');
}
