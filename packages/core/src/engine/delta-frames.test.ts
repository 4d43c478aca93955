import type { DeltaFrame, VolatileFrame } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { createMask } from '@tendon/protocol/masking';
import { createDeltaFrames } from './delta-frames.ts';

/** Frames of a turn whose pauses end on demand. */
function stage() {
  const frames: VolatileFrame[] = [];
  let over = Promise.withResolvers<void>();
  const clock = { now: () => new Date(0), sleep: () => over.promise };
  const deltas = createDeltaFrames(7, { mask: createMask([]), emit: (frame) => frames.push(frame), clock }, new AbortController().signal);
  return {
    deltas,
    shown: () => (frames as DeltaFrame[]).map(({ part, offset, text }) => `${part} ${offset} ${text}`),
    async pauseEnds() {
      const { resolve } = over;
      over = Promise.withResolvers();
      resolve();
      await new Promise(setImmediate);
    },
  };
}

it('EN142: the first piece is shown at once, what comes in the pause after it as one frame for each part', async () => {
  const { deltas, shown, pauseEnds } = stage();
  deltas.push('text', 'I');
  deltas.push('text', ' look');
  deltas.push('tool', '{"command"');
  deltas.push('text', ' at it');
  expect(shown()).toEqual(['text 0 I']);
  await pauseEnds();
  expect(shown().slice(1)).toEqual(['text 1  look at it', 'tool 0 {"command"']);
  deltas.push('tool', ':"ls"}');
  expect(shown()).toHaveLength(4);
});

it('EN142: nothing waits longer than the answer, and a retry makes what waits void', async () => {
  const { deltas, shown, pauseEnds } = stage();
  deltas.push('text', 'a');
  deltas.push('text', 'b');
  deltas.restart();
  await pauseEnds();
  expect(shown()).toEqual(['text 0 a']);
  deltas.push('text', 'c');
  deltas.push('text', 'd');
  deltas.end();
  await pauseEnds();
  expect(shown()).toEqual(['text 0 a', 'text 0 c', 'text 1 d']);
});
