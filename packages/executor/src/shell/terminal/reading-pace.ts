/**
 * How fast the executor reads what commands print. The first bytes of each command are read as fast as they come. A command that has
 * printed more is one of those that share a slice of the time: when the slice is over they all rest three times as long. Its program
 * then waits in its write, as on a slow terminal, and leaves the processors to others.
 *
 * 1. However many commands print without end, reading them takes a quarter of the time at most.
 * 2. Nothing is lost, and nothing of a command that has ended waits: what it has left is read at once.
 */
export interface ReadingPace {
  reader(source: PausableSource): PacedReader;
}

/** A terminal or a pipe. */
export interface PausableSource {
  pause(): unknown;
  resume(): unknown;
}

export interface PacedReader {
  /** After each read. */
  took(bytes: number): void;
  /** What comes from now on is read at once again: a command begins, or ends and has left the rest of its output. */
  restart(): void;
  /** Nothing more is read. */
  close(): void;
}

export interface PaceClock {
  nowMs(): number;
  after(ms: number, act: () => void): void;
}

/** Nobody follows more than this without a gap: `followEffect`. */
const AT_ONCE_BYTES = 4 * 1024 * 1024;
const SLICE_MS = 5;
const REST_TIMES = 3;
/** Between two reads. What is longer is not the reading: the program writes seldom, or waits for a processor, as on a busy machine. */
const MAX_GAP_MS = 0.1;

const CLOCK: PaceClock = { nowMs: () => performance.now(), after: (ms, act) => void setTimeout(act, ms) };

export function createReadingPace(clock: PaceClock = CLOCK): ReadingPace {
  /** Of commands that have printed more. */
  const shared = new Set<PausableSource>();
  let takenMs = 0; // of the slice
  let lastAt = -Infinity;
  let isResting = false;

  function count(): void {
    const now = clock.nowMs();
    takenMs += Math.min(now - lastAt, MAX_GAP_MS);
    lastAt = now;
    if (takenMs < SLICE_MS) return;
    isResting = true;
    for (const source of shared) source.pause();
    clock.after(takenMs * REST_TIMES, readOn);
    takenMs = 0;
  }

  function readOn(): void {
    isResting = false;
    lastAt = clock.nowMs();
    for (const source of shared) source.resume();
  }

  return {
    reader(source) {
      let bytes = 0;
      return {
        took(more) {
          bytes += more;
          if (bytes <= AT_ONCE_BYTES) return;
          shared.add(source);
          if (isResting) source.pause();
          else count();
        },
        restart() {
          bytes = 0;
          if (shared.delete(source) && isResting) source.resume();
        },
        close: () => void shared.delete(source),
      };
    },
  };
}
