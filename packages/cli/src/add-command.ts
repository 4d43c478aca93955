import type { Command } from 'commander';

/** Adds a command to the program; it reports its exit code through `end`. */
export type AddCommand = (program: Command, end: (exitCode: number) => void) => void;

/** What `tendon` ends with; documented in `--help` and relied upon by scripts. */
export const EXIT = { done: 0, failed: 1, usage: 2, undecided: 3, interrupted: 130 } as const;
