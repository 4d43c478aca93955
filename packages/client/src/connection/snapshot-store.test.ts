import { expect, it } from 'vitest';
import { SnapshotStore } from './snapshot-store.ts';

it('CL1006: a view that takes long to draw is given changes less often', async () => {
  const store = new SnapshotStore(() => ({}), 1);
  const drawn: { readonly from: number; readonly to: number }[] = [];
  const done = new Promise<void>((resolve) =>
    store.subscribe(() => {
      const from = performance.now();
      // As a view does that has many rows: it holds the thread.
      while (performance.now() - from < 20);
      drawn.push({ from, to: performance.now() });
      if (drawn.length === 4) return resolve();
      setTimeout(() => store.touch());
    }),
  );
  store.touch();
  await done;
  store.end();
  // A timer may be late and is never early, but for the parts of a millisecond.
  const pauses = drawn.slice(1).map(({ from }, index) => from - drawn[index]!.to);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(59);
});

it('CL1331: steps wait for their pace, but for the first after a pause, and any other change brings them along', async () => {
  const store = new SnapshotStore(() => ({}), 1);
  let published = 0;
  const next = () => new Promise<void>((resolve) => store.subscribe(() => (published += 1) && resolve()));
  const first = next();
  store.touch({ paceMs: 1e9 });
  await first;
  const second = next();
  store.touch({ paceMs: 1e9 });
  const before = published;
  store.touch();
  await second;
  store.end();
  // Both listeners hear of the second publication.
  expect([before, published]).toEqual([1, 3]);
});
