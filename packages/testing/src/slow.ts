/** For the quick tests, whose default is 15 seconds (vitest.config.ts), where a busy machine needs more: what each kind may take at most. */
export const SLOW = {
  /** Writes and syncs much, or starts processes one after the other. */
  disk: 60_000,
  /** Tries many cases. */
  cases: 60_000,
} as const;
