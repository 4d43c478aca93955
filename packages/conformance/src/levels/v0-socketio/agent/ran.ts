import type { Frame } from '../../../target/frames.ts';

/** The result of a command that printed just this. */
export const ran =
  (words: string) =>
  (frame: Frame): boolean =>
    frame.observation === 'run' && String(frame.content).trim() === words;
