import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { createReachedHosts, createReachedRecord, type ReachedHost } from './reached-hosts.ts';

const connection = (bytesRead: number, bytesWritten: number) => Object.assign(new EventEmitter(), { bytesRead, bytesWritten });

it('SV1030: what a sandbox reached is remembered in bounds, with its times and what went over connections that ended', async () => {
  let at = 1_000;
  const reached = createReachedHosts(() => at++);
  const [first, second] = [connection(2_000, 40), connection(5, 5)];
  reached.note('registry.example', 443, first as never);
  reached.note('registry.example', 443, second as never);
  first.emit('close');
  expect(await reached.list()).toEqual([
    { host: 'registry.example', port: 443, times: [1_000, 1_001], count: 2, bytesIn: 2_000, bytesOut: 40 },
  ]);
  for (let n = 0; n < 150; n++) reached.note(`${n}.example`, 443, connection(0, 0) as never);
  for (let n = 0; n < 30; n++) reached.note('149.example', 443, connection(0, 0) as never);
  expect(await reached.list()).toHaveLength(100);
  expect((await reached.list()).at(-1)).toMatchObject({ host: '149.example', count: 31 });
  expect((await reached.list()).at(-1)!.times).toHaveLength(20);
});

it('SV1094: what was reached is known to the next server too, and what cannot be read is not written over', async () => {
  let stored: readonly ReachedHost[] = [];
  let isBroken = false;
  const store = {
    read: async () => (isBroken ? Promise.reject(new Error('no disk')) : stored),
    write: async (places: readonly ReachedHost[]) => void (stored = places),
  };
  const first = createReachedHosts(() => 1_000, store);
  const open = connection(2_000, 40);
  first.note('registry.example', 443, open as never);
  first.note('other.example', 443, connection(0, 0) as never);
  open.emit('close');
  await first.stored();
  const next = createReachedHosts(() => 2_000, store);
  next.note('registry.example', 443, connection(0, 0) as never);
  const both = { host: 'registry.example', port: 443, times: [1_000, 2_000], count: 2, bytesIn: 2_000, bytesOut: 40 };
  expect(await next.list()).toMatchObject([{ host: 'other.example' }, both]);
  await next.stored();
  await next.stored();
  expect(stored).toMatchObject([{ host: 'other.example', count: 1 }, both]);
  isBroken = true;
  const broken = createReachedHosts(() => 3_000, store);
  broken.note('third.example', 443, connection(0, 0) as never);
  await broken.stored();
  expect(stored).toHaveLength(2);
});

it('SV1094: what a deleted conversation reached is forgotten, also where a connection of it ends later', async () => {
  const stored = new Map<string, readonly ReachedHost[]>();
  const record = createReachedRecord({
    read: async (id) => stored.get(id) ?? [],
    write: async (id, places) => void (places.length === 0 ? stored.delete(id) : stored.set(id, places)),
  });
  const open = connection(1, 1);
  for (const id of ['other', 'deleted']) record.of(id).note('registry.example', 443, open as never);
  await record.close();
  expect([...stored.keys()]).toEqual(['other', 'deleted']);
  const late = record.of('deleted');
  await record.forget('deleted');
  open.emit('close');
  await Promise.all([late.stored(), record.close()]);
  expect([...stored.keys()]).toEqual(['other']);
  expect(await record.list('other')).toMatchObject([{ bytesIn: 1 }]);
  expect(await record.list('deleted')).toEqual([]);
});
