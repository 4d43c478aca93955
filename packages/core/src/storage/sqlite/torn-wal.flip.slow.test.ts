import { itInFull, someOf } from '@tendon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KilledDatabase } from './fixtures/killed-database.ts';

describe('a write-ahead log with a flipped bit', () => {
  let killed: KilledDatabase;
  beforeAll(() => {
    killed = new KilledDatabase();
  });
  afterAll(() => killed.dispose());

  itInFull('EL16: at any byte of the last three commits, every commit before it is there and what broke off is reported', async () => {
    const wrong: string[] = [];
    for (const byte of someOf(killed.bytes())) {
      const wal = Buffer.from(killed.wal);
      wal[byte]! ^= 1 << (byte % 8);
      const { events, findings } = await killed.openWith(wal);
      if (events !== killed.wholeBefore(byte) || findings.length !== 1) wrong.push(`flipped at ${byte}: ${events} events, ${findings}`);
    }
    expect(wrong).toEqual([]);
  });

  it('EL16: in the header of the log, everything since the last checkpoint is lost, and that is reported', async () => {
    const wal = Buffer.from(killed.wal);
    wal[20]! ^= 1;
    const { findings } = await killed.openWith(wal);
    expect(findings).toEqual([expect.stringMatching(/damaged header.*A copy is stored as .*\.torn-wal$/)]);
  });
});
