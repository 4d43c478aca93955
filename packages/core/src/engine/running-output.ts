import type { OutputFrame } from '@tendon/protocol';

const MAX_CHARS = 1024 * 1024;

/** What the running action has printed, for those who come while it runs: all of it, or the newest where it is much. */
export interface RunningOutput {
  push(frame: OutputFrame): void;
  /** In order. Of the last action that printed anything, whether or not it still runs. */
  readonly frames: readonly OutputFrame[];
}

export function createRunningOutput(): RunningOutput {
  let frames: OutputFrame[] = [];
  let chars = 0;
  return {
    push(frame) {
      if (frames[0]?.cause !== frame.cause) {
        frames = [];
        chars = 0;
      }
      frames.push(frame);
      chars += frame.text.length;
      while (chars > MAX_CHARS && frames.length > 1) chars -= frames.shift()!.text.length;
    },
    get frames() {
      return frames;
    },
  };
}
