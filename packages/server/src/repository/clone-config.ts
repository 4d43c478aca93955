import { z } from 'zod';
import { size } from '../config/sandbox-config.ts';
import type { CloneLimits } from './prepare-repository.ts';

const number = (atLeast: number) =>
  z.coerce.number('a number is expected').int('a whole number is expected').min(atLeast, `at least ${atLeast} is needed`);

/** What the clone of a conversation's repository may take. */
export const CloneEnvironment = z.object({
  SANDBOX_CLONE_SECONDS: number(10).default(900),
  SANDBOX_CLONE_SIZE: size('1m').default(4 * 1024 ** 3),
  SANDBOX_CLONE_DEPTH: number(1).optional(),
});

export function cloneConfig(values: z.output<typeof CloneEnvironment>): CloneLimits {
  const { SANDBOX_CLONE_SECONDS: timeoutSeconds, SANDBOX_CLONE_SIZE: maxBytes, SANDBOX_CLONE_DEPTH: depth } = values;
  return { timeoutSeconds, maxBytes, ...(depth && { depth }) };
}
