import { createMemoryStorage } from '@tendon/core/storage';
import { expect, it } from 'vitest';
import { systemClock } from '../../../platform/system-clock.ts';
import { pruneWsSessions, WS_SESSIONS } from './ws-sessions.ts';

const NOW = new Date('2026-06-30T00:00:00.000Z');
const daysAgo = (days: number): string => new Date(NOW.getTime() - days * 86_400_000).toISOString();

it('SV117: sessions that were not used for long are forgotten, those with a conversation much later', async () => {
  const { records } = createMemoryStorage({ clock: systemClock });
  await records.put('conversations', { id: 'there', sort: '', value: {} });
  const sessions = { old: 31, young: 29, full: 364, ancient: 366, gone: 31, older: 0 };
  for (const [id, days] of Object.entries(sessions)) {
    const conversation = { full: 'there', ancient: 'there', gone: 'not there' }[id];
    await records.put(WS_SESSIONS, { id, sort: id === 'older' ? '' : daysAgo(days), value: { ...(conversation && { conversation }) } });
  }
  expect(await pruneWsSessions(records, NOW)).toBe(3);
  const left = async () => (await records.list(WS_SESSIONS)).map(({ id }) => id).toSorted();
  expect(await left()).toEqual(['full', 'older', 'young']);
  // One of an earlier version has an age from now on.
  expect(await pruneWsSessions(records, new Date(NOW.getTime() + 31 * 86_400_000))).toBe(3);
  expect(await left()).toEqual([]);
});

it('SV117: however many there are', async () => {
  const { records } = createMemoryStorage({ clock: systemClock });
  for (let index = 0; index < 450; index += 1) {
    await records.put(WS_SESSIONS, { id: `session ${index}`, sort: daysAgo(index % 2 === 0 ? 100 : 1), value: {} });
  }
  expect(await pruneWsSessions(records, NOW)).toBe(225);
  expect(await records.list(WS_SESSIONS)).toHaveLength(225);
});
