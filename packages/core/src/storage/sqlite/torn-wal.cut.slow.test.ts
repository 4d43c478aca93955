import { someOf } from '@tendon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KilledDatabase } from './fixtures/killed-database.ts';

describe('a write-ahead log that was cut', () => {
  let killed: KilledDatabase;
  beforeAll(() => {
    killed = new KilledDatabase();
  });
  afterAll(() => killed.dispose());

  it('EL16: not cut at all, everything is there and nothing is reported', async () => {
    expect(await killed.openWith(killed.wal)).toMatchObject({ events: killed.wholeBefore(killed.wal.length), findings: [] });
  });

  it('EL31: cut at any commit, an id that is assigned again has another epoch than the lost event', async () => {
    const whole = await killed.openWith(killed.wal);
    const written = whole.epochs[0];
    expect(new Set(whole.epochs.slice(0, -1))).toEqual(new Set([written]));
    for (const byte of [killed.bytes()[0]!, killed.wal.length - 1]) {
      const { events, epochs } = await killed.openWith(killed.wal.subarray(0, byte));
      expect(events).toBeLessThan(whole.events);
      expect(epochs.slice(0, -1)).toEqual(Array.from({ length: events }, () => written));
      expect(epochs.at(-1)).toMatch(/^[0-9a-f]{16}$/);
      expect(epochs.at(-1)).not.toBe(written);
    }
  });

  it('EL16: cut at any byte of the last three commits, every whole commit is there', async () => {
    const wrong: string[] = [];
    for (const byte of someOf(killed.bytes())) {
      const { events } = await killed.openWith(killed.wal.subarray(0, byte));
      if (events !== killed.wholeBefore(byte)) wrong.push(`cut at ${byte}: ${events} events`);
    }
    expect(wrong).toEqual([]);
  });
});
