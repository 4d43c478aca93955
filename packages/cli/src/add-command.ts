import type { Command } from 'commander';

/** Adds a command to the program; it reports its exit code through `end`. */
export type AddCommand = (program: Command, end: (exitCode: number) => void) => void;
