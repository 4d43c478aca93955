import { expect, it } from 'vitest';
import { watchDisk, type DiskWatchParts } from './disk-watch.ts';

const MiB = 1024 ** 2;

/** A clock twice as fast as the real one: the second that a command is not counted takes half of one. */
const now = (): number => performance.now() * 2;

function watched(parts: Pick<DiskWatchParts, 'measure' | 'freeBytes'> & Partial<DiskWatchParts>): ReturnType<typeof watchDisk> {
  return watchDisk({ limitBytes: 64 * MiB, now, endWork: async () => {}, giveUp: () => {}, ...parts });
}

it('SB720: what others give back meanwhile does not hide what a command takes', async () => {
  let bytes = 0;
  const watch = watched({
    measure: async () => ({ bytes: (bytes += 40 * MiB), isComplete: true }),
    freeBytes: async () => 1024 * MiB,
  });
  const { signal, end } = watch.begin();
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  expect(await end({ outcome: 'cancelled' } as never)).toMatch(/may take 64 MiB, so this and what ran in the background was ended/);
  watch.stop();
});

it('SB135: what was written until its writer had ended is not held against what cleans up', async () => {
  let bytes = 100 * MiB;
  const counts = { made: 0 };
  const watch = watched({
    measure: async () => {
      counts.made += 1;
      return { bytes, isComplete: true };
    },
    freeBytes: async () => 1024 * MiB,
    endWork: async () => {
      bytes = 400 * MiB;
    },
  });
  const writer = watch.begin();
  await new Promise((resolve) => writer.signal.addEventListener('abort', resolve));
  await writer.end({ outcome: 'cancelled' } as never);
  const cleaner = watch.begin();
  const before = counts.made;
  await expect.poll(() => counts.made).toBeGreaterThan(before + 1);
  expect(cleaner.signal.aborted).toBe(false);
  watch.stop();
});
