import { expect } from 'vitest';
import type { RunSeen } from '../testing/start-executor.ts';

/** Of an answer to `run`: values, or patterns for texts. */
export type ExpectedRun = { readonly [Name in keyof RunSeen]?: RunSeen[Name] | RegExp };

export function expectedRun(parts: ExpectedRun): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, matcherOf(value)]));
}

function matcherOf(value: unknown): unknown {
  if (!(value instanceof RegExp)) return value;
  return expect.stringMatching(value);
}
