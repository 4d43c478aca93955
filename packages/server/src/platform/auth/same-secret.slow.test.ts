import { openPostgresStorage } from '@tendon/core/postgres';
import { createMemoryStorage } from '@tendon/core/storage';
import { Secret } from '@tendon/protocol/masking';
import { sharedPostgres } from '@tendon/testing/postgres';
import { TendonProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { systemClock as clock } from '../system-clock.ts';
import { checkSameSecret } from './same-secret.ts';

const [SECRET, OTHER] = [new Secret('the-secret-of-the-cluster'), new Secret('the-secret-of-another')];

async function place() {
  const cluster = await sharedPostgres();
  const name = `secrets_${process.pid}_${performance.now().toFixed(0)}`;
  const url = await cluster.createDatabase(name);
  onTestFinished(() => cluster.sql('postgres', `DROP DATABASE ${name} WITH (FORCE)`).then(() => undefined));
  const open = async (port: number) => {
    const storage = await openPostgresStorage({ url, clock, shared: { url: `http://127.0.0.1:${port}`, takesConversations: true } });
    onTestFinished(() => storage.close());
    return storage;
  };
  return { url, open, sql: (text: string) => cluster.sql(name, text) };
}

itInFull(
  'SV1266: a server whose JWT_SECRET is not that of those alive is refused; alone, its own counts, and it says what that means',
  async () => {
    const { open, sql } = await place();
    const findings: string[] = [];
    const check = async (storage: Awaited<ReturnType<typeof open>>, secret: Secret) =>
      checkSameSecret(storage, secret, (finding) => findings.push(finding));
    const [one, two] = [await open(1), await open(2)];
    await check(one, SECRET);
    await check(two, SECRET);
    await expect(check(two, OTHER)).rejects.toThrow(/^JWT_SECRET is not that of the other servers .*\(http:\/\/127\.0\.0\.1:1 is one\)/);
    const stored = await sql(`SELECT json FROM tendon.records WHERE collection = 'cluster'`);
    expect(stored).toMatch(/^"[0-9a-f]{64}"$/);
    expect(findings).toEqual([]);
    await one.close();
    await check(two, OTHER);
    expect(findings).toEqual([expect.stringContaining('have to be entered anew')]);
    await expect(check(await open(3), SECRET)).rejects.toThrow('JWT_SECRET');
  },
);

itInFull('SV1266: it says so where it is started, ends, and leaves the others alone', async () => {
  const { url, sql } = await place();
  const server = await TendonProcess.sharing(url, {}, { answers: [] });
  onTestFinished(() => server.remove());
  const started = TendonProcess.sharing(url, { JWT_SECRET: 'the-secret-of-another' }, { answers: [] });
  await expect(started).rejects.toThrow(`JWT_SECRET is not that of the other servers on this database (${server.url} is one)`);
  expect(await sql('SELECT count(*) FROM tendon.servers WHERE NOT ended')).toBe('1');
  expect(await server.conversations()).toEqual([]);
});

it('SV1266: a server that shares no database compares nothing', async () => {
  const storage = createMemoryStorage({ clock });
  await checkSameSecret(storage, SECRET, () => expect.unreachable());
  expect(await storage.records.list('cluster')).toEqual([]);
});
