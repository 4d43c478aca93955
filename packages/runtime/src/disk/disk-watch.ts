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
/** What runs is counted without a suspicion too, with a hundredth of the time, for the same reason. */
const RUNNING_COUNT_AGAIN_MS = 1000;
const RUNNING_REST_PER_COUNT = 99;
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

/** What was counted last, and how long that took. */
interface Counted {
  readonly at: number;
  freeBytes: number;
  readonly tookMs: number;
}

/** Beyond the limit. */
interface Excess {
  /** What may not be exceeded now. */
  bound: number;
  /** When what writes was ended for the first time since it was below the limit, or an action began, and how often since. */
  first?: { readonly at: number; readonly bytes: number; ends: number } | undefined;
}

export function watchDisk(parts: DiskWatchParts): DiskWatch {
  return new LimitWatch(parts);
}

/**
 * Owns the figures, and the actions that run.
 *
 * DWA1  Files are counted only when the free space has shrunk by what is left of the limit, and from time to time.
 * DWA2  Beyond the limit a command that writes more is ended; one that frees space, or only looks, is not.
 * DWA3  Programs that still write are ended with the sandbox.
 */
class LimitWatch implements DiskWatch {
  readonly #parts: DiskWatchParts;
  readonly #running = new Set<AbortController>();
  #used: DiskUse | undefined;
  #counted: Counted = { at: -Infinity, freeBytes: Infinity, tookMs: 0 };
  #counting: Promise<void> | undefined;
  /** Nobody has asked anything of it since it was counted. */
  #isUntouched = false;
  #excess: Excess | undefined;
  #next: { readonly timer: NodeJS.Timeout; readonly at: number } | 'stopped' | undefined;

  constructor(parts: DiskWatchParts) {
    this.#parts = parts;
    if (Number.isFinite(parts.limitBytes)) this.#lookIn(LOOK_MS);
  }

  used(): DiskUse | undefined {
    return this.#used;
  }

  isOver(): boolean {
    return this.#excess !== undefined;
  }

  words(): string {
    return `${this.#figures()}. ${WHAT_TO_DO}.`;
  }

  refusal(action: RunnableAction): string | undefined {
    return this.isOver() && writesFile(action) ? this.words() : undefined;
  }

  begin(): { readonly signal: AbortSignal; readonly end: (result: ExecuteResult) => Promise<string | undefined> } {
    const ending = new AbortController();
    if (this.#running.size === 0 && this.#excess) this.#excess.first = undefined;
    this.#running.add(ending);
    this.#isUntouched = false;
    this.#hurry();
    return { signal: ending.signal, end: (result) => this.#end(ending, result) };
  }

  stop(): void {
    if (typeof this.#next === 'object') clearTimeout(this.#next.timer);
    this.#next = 'stopped';
  }

  async #end(ending: AbortController, result: ExecuteResult): Promise<string | undefined> {
    this.#running.delete(ending);
    const wasEnded = ending.signal.aborted && result.outcome !== 'not-started';
    if (this.isOver()) await this.#count().catch(() => {});
    if (!wasEnded && !this.isOver()) return undefined;
    const ended = wasEnded ? ', so this and what ran in the background was ended' : '';
    return this.isOver() ? `${this.#figures()}${ended}. ${WHAT_TO_DO}` : `${this.#figures()}: it had been more than that${ended}`;
  }

  #figures(): string {
    const atLeast = this.#used?.isComplete === false ? 'at least ' : '';
    return `the sandbox takes ${atLeast}${sizeText(this.#used?.bytes ?? 0)} on the disk, and may take ${sizeText(this.#parts.limitBytes)}`;
  }

  #count(): Promise<void> {
    const { now, freeBytes: free, measure, limitBytes } = this.#parts;
    this.#counting ??= (async () => {
      const at = now();
      this.#isUntouched = this.#running.size === 0;
      const freeBytes = await free();
      this.#used = await measure();
      this.#counted = { at: now(), freeBytes, tookMs: now() - at };
      if (this.#used.bytes <= limitBytes) this.#excess = undefined;
    })().finally(() => (this.#counting = undefined));
    return this.#counting;
  }

  async #look(): Promise<void> {
    const free = await this.#parts.freeBytes();
    // From the most that was free: what somebody gave back hides nothing that was taken since.
    this.#counted.freeBytes = Math.max(this.#counted.freeBytes, free);
    const taken = this.#counted.freeBytes - free;
    const age = this.#parts.now() - this.#counted.at;
    const isSuspect = (this.#used?.bytes ?? 0) + taken > this.#bound() && age > this.#counted.tookMs * REST_PER_COUNT;
    if (!isSuspect && age < this.#countAgainMs()) return;
    if (!isSuspect && this.#isUntouched && taken < SLACK_BYTES) return;
    await this.#count();
    if (this.#used!.bytes > this.#bound()) await this.#endWork(this.#used!.bytes);
  }

  #countAgainMs(): number {
    if (this.#running.size === 0) return COUNT_AGAIN_MS;
    return Math.min(COUNT_AGAIN_MS, Math.max(RUNNING_COUNT_AGAIN_MS, this.#counted.tookMs * RUNNING_REST_PER_COUNT));
  }

  #bound(): number {
    return this.#excess?.bound ?? this.#parts.limitBytes;
  }

  async #endWork(bytes: number): Promise<void> {
    const { limitBytes, now, giveUp, endWork } = this.#parts;
    const first = this.#excess?.first ?? { at: now(), bytes, ends: 0 };
    this.#excess = { bound: bytes + SLACK_BYTES, first };
    const isMuch = now() - first.at > STUBBORN_MS || bytes - first.bytes > Math.min(STUBBORN_BYTES, STUBBORN_LIMITS * limitBytes);
    if (first.ends >= STUBBORN_ENDS && isMuch)
      return giveUp(`it takes ${sizeText(bytes)} on the disk, more than its ${sizeText(limitBytes)}, and goes on writing`);
    first.ends += 1;
    for (const each of this.#running) each.abort(new Error('the disk'));
    await endWork();
    await this.#count();
    // It wrote on while it was counted and ended: what cleans that up is not to be ended for it.
    if (this.#excess) this.#excess.bound = Math.max(this.#excess.bound, this.#used!.bytes + SLACK_BYTES);
  }

  async #go(): Promise<void> {
    this.#next = undefined;
    await this.#look().catch(() => {}); // a disk that cannot be asked is asked again
    this.#lookIn(this.#running.size > 0 ? LOOK_MS : IDLE_LOOK_MS);
  }

  #lookIn(ms: number): void {
    if (this.#next === 'stopped') return;
    this.#next = { timer: setTimeout(() => void this.#go(), ms).unref(), at: this.#parts.now() + ms };
  }

  /** An action has begun: it is looked at more often from now on. However many begin, none puts the next look off. */
  #hurry(): void {
    if (typeof this.#next !== 'object' || this.#next.at <= this.#parts.now() + LOOK_MS) return;
    clearTimeout(this.#next.timer);
    this.#lookIn(LOOK_MS);
  }
}

const WHAT_TO_DO =
  'Remove what is not needed (`du -xh --max-depth=2 ~ . | sort -h | tail` shows what is large). Until then what writes much is ended and files are not written';

function writesFile({ action, args }: RunnableAction): boolean {
  return action === 'write' || (action === 'edit' && (args as { readonly command?: string }).command !== 'view');
}
