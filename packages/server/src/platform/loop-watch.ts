/**
 * Notices that the event loop was blocked and names the task that held it. Owns a timer, the tasks' last mark and the totals; does not
 * own the tasks, which say by `begun` and `ended` where they are.
 *
 * Invariants
 * LW1  A block of 200 ms or more is reported once, after its end: a loop that never turns again reports nothing.
 * LW2  Of a block the task is named whose end closed the longest silence between two marks, else the one whose beginning opened it.
 * LW3  Names of tasks are few, such as routes: totals are counted by them.
 */
export interface Block {
  readonly task: string;
  readonly blockedMs: number;
  /** Of the processor, by this process meanwhile: much less than `blockedMs` means that the machine was busy with others. */
  readonly computedMs: number;
}

export interface BlockTotals {
  readonly count: number;
  readonly seconds: number;
}

interface Mark {
  readonly at: number;
  readonly task: string;
  readonly phase: 'begun' | 'ended';
}

const BLOCK_MS = 200;
/** A loop that turns is found turning so often; a blocked one is late. */
const TICK_MS = 50;
const UNNAMED = 'unnamed';

export class LoopWatch {
  readonly #totals = new Map<string, BlockTotals>();
  #last: Mark = { at: performance.now(), task: UNNAMED, phase: 'ended' };
  #silence = { ms: 0, task: UNNAMED };
  #tickAt = performance.now();
  #cpu = process.cpuUsage();
  #longestMs = 0;
  #timer: NodeJS.Timeout | undefined;

  begun(task: string): void {
    this.#mark(task, 'begun');
  }

  ended(task: string): void {
    this.#mark(task, 'ended');
  }

  /** From now on, until `close`. */
  start(onBlock: (block: Block) => void): void {
    this.#begin(performance.now());
    this.#timer = setInterval(() => this.#tick(onBlock), TICK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** By task. */
  get totals(): ReadonlyMap<string, BlockTotals> {
    return this.#totals;
  }

  get longestSeconds(): number {
    return this.#longestMs / 1000;
  }

  #mark(task: string, phase: Mark['phase']): void {
    const mark: Mark = { at: performance.now(), task, phase };
    this.#hear(mark);
    this.#last = mark;
  }

  /** The silence before `next` is over. */
  #hear(next: Mark): void {
    const ms = next.at - this.#last.at;
    if (ms <= this.#silence.ms) return;
    const { task, phase } = next.phase === 'ended' ? next : this.#last;
    this.#silence = { ms, task: next.phase === 'ended' || phase === 'begun' ? task : UNNAMED };
  }

  #tick(onBlock: (block: Block) => void): void {
    const now = performance.now();
    const blockedMs = now - this.#tickAt;
    if (blockedMs >= BLOCK_MS) {
      this.#hear({ at: now, task: UNNAMED, phase: 'begun' });
      const { user, system } = process.cpuUsage(this.#cpu);
      this.#report({ task: this.#silence.task, blockedMs: Math.round(blockedMs), computedMs: Math.round((user + system) / 1000) }, onBlock);
    }
    this.#begin(now);
  }

  #report(block: Block, onBlock: (block: Block) => void): void {
    const { count, seconds } = this.#totals.get(block.task) ?? { count: 0, seconds: 0 };
    this.#totals.set(block.task, { count: count + 1, seconds: seconds + block.blockedMs / 1000 });
    this.#longestMs = Math.max(this.#longestMs, block.blockedMs);
    onBlock(block);
  }

  #begin(now: number): void {
    this.#tickAt = now;
    this.#last = { ...this.#last, at: now };
    this.#silence = { ms: 0, task: UNNAMED };
    this.#cpu = process.cpuUsage();
  }
}
