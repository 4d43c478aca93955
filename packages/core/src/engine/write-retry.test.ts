import type { VolatileFrame } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { StorageError } from '../log/storage-error.ts';
import { WriteRetry } from './write-retry.ts';

function setUp(spaceAfter: number) {
  const closing = new AbortController();
  const frames: VolatileFrame[] = [];
  let tries = 0;
  const clock = { now: () => new Date(0), sleep: async () => undefined };
  const retry = new WriteRetry({ clock, closing: closing.signal, emit: (frame) => frames.push(frame), report: () => undefined });
  const write = async (): Promise<number> => {
    if (++tries > spaceAfter) return tries;
    throw new StorageError('undone', 'the database or disk is full');
  };
  return { retry, write, frames, closing };
}

it('EN229: a write that is rolled back is retried; watchers are notified once of the beginning and once of the end', async () => {
  const { retry, write, frames } = setUp(5);
  const written = await Promise.all([retry.untilWritten(write), retry.untilWritten(write)]);
  expect(written.toSorted()).toEqual([6, 7]);
  expect(frames).toMatchObject([
    { type: 'error', message: expect.stringContaining('the database or disk is full') },
    { type: 'info', id: 'STATUS$READY' },
  ]);
});

it('EN229: closing ends the waiting with the failure', async () => {
  const { retry, write, closing } = setUp(Infinity);
  const written = retry.untilWritten(write);
  closing.abort();
  await expect(written).rejects.toMatchObject({ code: 'undone' });
});

it('EN229: other failures are not retried', async () => {
  const { retry, frames } = setUp(0);
  const failing = () => Promise.reject(new StorageError('failed', 'the disk failed'));
  await expect(retry.untilWritten(failing)).rejects.toMatchObject({ code: 'failed' });
  expect(frames).toEqual([]);
});
