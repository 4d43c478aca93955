import { setImmediate as nextRound } from 'node:timers/promises';
import { Seen } from '@tendon/testing';
import { expect, it, onTestFinished } from 'vitest';
import { LoopWatch, type Block } from './loop-watch.ts';
import { testServer } from '../server.test-support.ts';

function watched(): { readonly watch: LoopWatch; readonly blocks: Seen<Block> } {
  const watch = new LoopWatch();
  const blocks = new Seen<Block>();
  watch.start((block) => blocks.take(block));
  onTestFinished(() => watch.close());
  return { watch, blocks };
}

/** The loop does not turn meanwhile. */
function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

it('SV312: the task that held the event loop is named, whether it had just begun or went on', async () => {
  const { watch, blocks } = watched();
  watch.begun('first');
  watch.begun('second');
  compute(300);
  expect(await blocks.until(({ task }) => task === 'second', 'a block by the second task')).toMatchObject({
    blockedMs: expect.any(Number) as number,
    computedMs: expect.any(Number) as number,
  });
  watch.begun('third');
  await nextRound();
  compute(300);
  watch.ended('first');
  await blocks.until(({ task }) => task === 'first', 'a block by the first task');
  expect(blocks.all.every(({ blockedMs }) => blockedMs >= 200)).toBe(true);
  expect(watch.totals.get('second')).toMatchObject({ count: 1 });
  expect(watch.longestSeconds).toBeGreaterThanOrEqual(0.3);
});

it('SV312: a block is in the log and among the metrics', async () => {
  const lines = new Seen<string>();
  const server = await testServer({ log: (line) => lines.take(line) });
  await server.get('/alive');
  compute(300);
  const line = await lines.until((each) => each.includes('the event loop was blocked'), 'a line of the log');
  expect(JSON.parse(line)).toMatchObject({ task: expect.any(String) as string, blockedMs: expect.any(Number) as number });
  const metrics = await (await server.get('/metrics')).text();
  expect(metrics).toMatch(/^tendon_event_loop_longest_block_seconds 0*[0-9.]+$/m);
  expect(metrics).toMatch(/^tendon_event_loop_blocked_seconds_total\{task="[^"]+"\} [0-9.]+$/m);
});
