/** Arguments as models really write them: numbers and booleans often come as text. */
import { z } from 'zod';

export const lenientBoolean = z.preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean());

export const lenientInteger = z.preprocess((value) => fromText(value), z.number().int());

export const lenientSeconds = z.preprocess((value) => fromText(value), z.number().positive().max(86_400));

function fromText(value: unknown): unknown {
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
}

const RISKS = { LOW: 0, MEDIUM: 1, HIGH: 2 } as const;

/** Optional; anything else than the three is taken as unknown, since it must never stop a call. */
export const riskParameter = z
  .enum(['LOW', 'MEDIUM', 'HIGH'])
  .optional()
  .catch(undefined)
  .describe(
    'How risky the action is for the user: LOW reads or works inside the workspace, MEDIUM changes more, HIGH may lose data or leak it.',
  );

export function toRisk(risk: keyof typeof RISKS | undefined): -1 | 0 | 1 | 2 {
  return risk === undefined ? -1 : RISKS[risk];
}
