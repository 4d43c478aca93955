import { z } from 'zod';
import { count, size } from './environment-values.ts';

export interface CloneLimits {
  readonly timeoutSeconds: number;
  readonly maxBytes: number;
  /** Newest commits that are fetched; default all. */
  readonly depth?: number;
}

/** What the clone of a conversation's repository may take. */
export const CloneEnvironment = z.object({
  SANDBOX_CLONE_SECONDS: count(10).default(900),
  SANDBOX_CLONE_SIZE: size('1m').default(4 * 1024 ** 3),
  SANDBOX_CLONE_DEPTH: count(1).optional(),
});

export function cloneConfig(values: z.output<typeof CloneEnvironment>): CloneLimits {
  const { SANDBOX_CLONE_SECONDS: timeoutSeconds, SANDBOX_CLONE_SIZE: maxBytes, SANDBOX_CLONE_DEPTH: depth } = values;
  return { timeoutSeconds, maxBytes, ...(depth && { depth }) };
}
