import { expect, it } from 'vitest';
import { watchDisk, type DiskWatchParts } from './disk-watch.ts';

const MiB = 1024 ** 2;

/** A clock twice as fast as the real one: the second that a command is not counted takes half of one. */
const now = (): number => performance.now() * 2;

function watched(parts: Pick<DiskWatchParts, 'measure' | 'freeBytes'>): ReturnType<typeof watchDisk> {
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
