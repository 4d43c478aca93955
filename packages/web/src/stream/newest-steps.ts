import type { StreamItem } from './stream-item.ts';

/** Where the newest step stands, and the newest command of the same turn: a person who comes back wants to see what it said. */
export function newestSteps(items: readonly StreamItem[]): ReadonlySet<number> {
  const turn = items.findLastIndex((item) => item.type === 'turn');
  const newest = items.findLastIndex((item) => item.type === 'step' && item.action?.action !== 'finish');
  const command = items.findLastIndex((item) => item.type === 'step' && item.action?.action === 'run');
  return new Set([newest, command].filter((index) => index > turn));
}
