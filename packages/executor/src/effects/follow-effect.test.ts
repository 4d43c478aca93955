import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { ExecuteLine } from '@tendon/protocol/executor-api';
import { followEffect, type Effect } from './follow-effect.ts';
import { createSpool } from './spool.ts';

const PIECES = 400;

it('RT651: what a command writes piece by piece goes out in few packets, all of it, and the outcome at once', async () => {
  const spool = createSpool(1024 * 1024, () => undefined);
  const effect: Effect = {
    ...{ spool, cancel: new AbortController(), outcome: undefined },
    ...{ ended: Promise.withResolvers(), changes: 0, waiting: [] },
  };
  const notify = (): void => {
    effect.changes += 1;
    for (const more of effect.waiting.splice(0)) more();
  };
  const lines: ExecuteLine[] = [];
  const followed = (async () => {
    for await (const line of followEffect(effect, 0, 4 * 1024 * 1024)) lines.push(line);
  })();
  for (let piece = 0; piece < PIECES; piece += 1) {
    spool.append(`${piece}\n`);
    notify();
    await turn();
  }
  effect.outcome = { observation: 'null', content: '', extras: {} };
  effect.ended.resolve();
  notify();
  await followed;
  const output = lines.filter((line) => line.type === 'output');
  expect(output.map(({ text }) => text).join('')).toBe(Array.from({ length: PIECES }, (_, piece) => `${piece}\n`).join(''));
  expect(output.length).toBeLessThan(PIECES / 4);
  expect(lines.at(-1)?.type).toBe('outcome');
});
