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
