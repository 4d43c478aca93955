import { createHash } from 'node:crypto';
import type { RunnableAction } from '@tendon/core';

/**
 * Tells an action from every other: what it does, its time limit and when it was appended, in whatever order its keys stand. What a
 * model has written out for a drafted edit is not part of it, for that may come out otherwise when it is asked again.
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
