import { z } from 'zod';
import { onOff } from './environment-values.ts';

/** What a company asks of a server: who did what. */
export interface GovernanceConfig {
  /** Whether security-relevant acts are written down. */
  readonly audits: boolean;
}

export const GovernanceEnvironment = z.object({
  TENDON_AUDIT: onOff.optional(),
});

/** Where several people share a database, the audit log is on. */
export function governanceConfig(
  values: z.output<typeof GovernanceEnvironment>,
  { isShared }: { readonly isShared: boolean },
): GovernanceConfig {
  return { audits: values.TENDON_AUDIT ?? isShared };
}
