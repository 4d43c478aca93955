import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KilledDatabase } from './fixtures/killed-database.ts';

describe('a write-ahead log that was cut', () => {
  let killed: KilledDatabase;
  beforeAll(() => {
    killed = new KilledDatabase();
  });
  afterAll(() => killed.dispose());

  it('EL16: not cut at all, everything is there and nothing is reported', async () => {
    expect(await killed.openWith(killed.wal)).toEqual({ events: killed.wholeBefore(killed.wal.length), findings: [] });
  });

  it('EL16: cut at every byte of the last three commits, every whole commit is there', async () => {
    const wrong: string[] = [];
    for (const byte of killed.bytes()) {
      const { events } = await killed.openWith(killed.wal.subarray(0, byte));
      if (events !== killed.wholeBefore(byte)) wrong.push(`cut at ${byte}: ${events} events`);
    }
    expect(wrong).toEqual([]);
  }, 120_000);
});
