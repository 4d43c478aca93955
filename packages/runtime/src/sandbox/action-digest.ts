import { createHash } from 'node:crypto';
import type { RunnableAction } from '@tendon/core';

/**
 * Distinguishes an action from every other: kind, arguments, time limit and time of the event, in any order of keys. The text that a
 * model wrote for a drafted edit is not part of it, because a model that is asked again writes another.
 */
export function actionDigest({ action, args, timeout, timestamp }: RunnableAction): string {
  const { drafted: _drafted, ...asked } = args as Readonly<Record<string, unknown>>;
  return createHash('sha256')
    .update(JSON.stringify([action, asked, timeout ?? null, timestamp], sorted))
    .digest('hex');
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
