import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { fairTurns } from './fair-turns.ts';

it('SV170: so many begin in one round of the event loop, in order; then it is the others’ turn', async () => {
  const begun: number[] = [];
  const fairly = fairTurns(2);
  const turns = Array.from({ length: 5 }, (_, index) => fairly(async () => begun.push(index)));
  const all = Promise.all(turns.map((turn) => turn()));
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  await setImmediate();
  expect(begun).toEqual([0, 1, 2, 3]);
  await setImmediate();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  await all;
});

it('SV170: who comes alone begins at once, also after others', async () => {
  const fairly = fairTurns(1);
  for (let round = 0; round < 3; round++) {
    let hasBegun = false;
    const turn = fairly(async () => {
      hasBegun = true;
    })();
    expect(hasBegun).toBe(true);
    await turn;
    await setImmediate();
    await setImmediate();
  }
});

it('SV170: one that fails takes nobody’s place', async () => {
  const fairly = fairTurns(1);
  const failing = fairly(() => Promise.reject(new Error('no model')))();
  const next = fairly(async () => 'begun')();
  await expect(failing).rejects.toThrow('no model');
  expect(await next).toBe('begun');
});
