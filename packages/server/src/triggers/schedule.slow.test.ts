import { expect, it } from 'vitest';
import type { Clock } from '@tendon/core';
import { systemClock } from '../platform/system-clock.ts';
import { testServer } from '../server.test-support.ts';
import { addTrigger, conversationCount, deliveriesOf, endOf } from './triggers.test-support.ts';

const SCRIPT = [{ text: 'Done.' }];
const HOURLY = { kind: 'schedule', prompt: 'Look after it.', schedule: { cron: '0 * * * *', time_zone: 'Europe/Berlin' } };

/** A clock that is set by hand; waits are cut short, so that it is looked at. */
function handClock(start: string): Clock & { set(time: string): void } {
  let now = new Date(start);
  return {
    now: () => now,
    sleep: (ms, options) => systemClock.sleep(Math.min(ms, 100), options),
    set: (time) => void (now = new Date(time)),
  };
}

it('TG907: a schedule makes a conversation at its time, once for a tick', async () => {
  const clock = handClock('2026-05-01T08:30:00Z');
  const server = await testServer({ script: SCRIPT, clock });
  const trigger = await addTrigger(server, HOURLY);
  expect(trigger).toMatchObject({ secret: null, path: null, next_at: '2026-05-01T09:00:00.000Z' });
  expect(await deliveriesOf(server, trigger)).toEqual([]);
  clock.set('2026-05-01T09:00:00Z');
  expect(await endOf(server, trigger)).toMatchObject({ name: '2026-05-01T09:00:00.000Z', state: 'done' });
  clock.set('2026-05-01T10:00:20Z');
  await expect.poll(async () => (await deliveriesOf(server, trigger)).length, { timeout: 60_000 }).toBe(2);
  // The delivery is stored before the schedule goes on.
  await expect
    .poll(async () => (await server.get(`/api/triggers/${trigger.id}`)).json(), { timeout: 60_000 })
    .toMatchObject({ next_at: '2026-05-01T11:00:00.000Z' });
  await expect.poll(() => conversationCount(server), { timeout: 60_000 }).toBe(2);
});

it('TG908: of what was missed while no server ran one is made up for', async () => {
  const first = await testServer({ script: SCRIPT, clock: handClock('2026-05-01T08:30:00Z') });
  const trigger = await addTrigger(first, HOURLY);
  await first.close();
  const second = await testServer({ script: SCRIPT, home: first.home, clock: handClock('2026-05-03T12:10:00Z') });
  expect(await endOf(second, trigger)).toMatchObject({ state: 'done' });
  await expect
    .poll(async () => ((await (await second.get(`/api/triggers/${trigger.id}`)).json()) as { next_at: string }).next_at, {
      timeout: 60_000,
    })
    .toBe('2026-05-03T13:00:00.000Z');
  await second.close();
  const third = await testServer({ script: SCRIPT, home: first.home, clock: handClock('2026-05-03T12:20:00Z') });
  expect(await deliveriesOf(third, trigger)).toHaveLength(1);
});

it('TG908: nothing is made up for that was missed while it was paused', async () => {
  const clock = handClock('2026-05-01T08:30:00Z');
  const server = await testServer({ script: SCRIPT, clock });
  const trigger = await addTrigger(server, HOURLY);
  const enable = async (enabled: boolean) =>
    (
      await fetch(`${server.url}/api/triggers/${trigger.id}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ enabled }),
      })
    ).json();
  expect(await enable(false)).toMatchObject({ next_at: null });
  clock.set('2026-05-01T12:30:00Z');
  expect(await enable(true)).toMatchObject({ next_at: '2026-05-01T13:00:00.000Z' });
  clock.set('2026-05-01T13:00:00Z');
  expect(await endOf(server, trigger)).toMatchObject({ name: '2026-05-01T13:00:00.000Z' });
  expect(await deliveriesOf(server, trigger)).toHaveLength(1);
});
