import { itInFull } from '@tendon/testing';
import { PostgresCluster } from '@tendon/testing/postgres';
import { TendonProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { makePlace, tendon } from './tendon-child.test-support.ts';

const JWT_SECRET = 'the same on every server';
const SCRIPT = { answers: [] };
const WAIT = { timeout: 60_000 };

async function database(): Promise<{ readonly postgres: PostgresCluster; readonly url: string }> {
  const postgres = await PostgresCluster.start();
  onTestFinished(() => postgres.remove());
  return { postgres, url: await postgres.createDatabase('tendon') };
}

async function server(url: string, env: NodeJS.ProcessEnv = {}): Promise<TendonProcess> {
  const started = await TendonProcess.sharing(url, env, SCRIPT);
  onTestFinished(() => started.remove());
  return started;
}

async function doctor(env: Readonly<Record<string, string>>): Promise<{ readonly code: number | string | null; readonly printed: string }> {
  const { code, stdout, stderr } = await tendon(makePlace(), ['doctor', '--cluster'], { env });
  expect(stderr).toBe('');
  return { code, printed: stdout };
}

it('CK1101: servers that work together are found, each asked as another server asks it', async () => {
  const { url } = await database();
  const [one, two] = [await server(url), await server(url)];
  const look = () => doctor({ TENDON_DATABASE_URL: url, JWT_SECRET });
  // A server takes conversations a moment after it answers.
  const { code, printed } = await vi.waitUntil(async () => {
    const seen = await look();
    return seen.printed.includes('ok    servers: 2 alive, 2 take new conversations') && seen;
  }, WAIT);
  for (const each of [one, two]) expect(printed).toMatch(new RegExp(`ok {4}server ${each.url}: .* conversations, sandboxes: none`));
  for (const name of ['database', 'Postgres', 'writes', 'encoding', 'commits', 'clock', 'payloads'])
    expect(printed).toContain(`ok    ${name}: `);
  expect(code).toBe(0);
});

itInFull('CK1101: another secret, a server that is not reached and one that drains are named with what to do', async () => {
  const { postgres, url } = await database();
  const [one, frozen] = [await server(url), await server(url)];
  const wrong = await doctor({ TENDON_DATABASE_URL: url, JWT_SECRET: 'another one than theirs' });
  expect(wrong.code).toBe(1);
  expect(wrong.printed).toMatch(/FAIL {2}server .*its JWT_SECRET is another one/);

  // It has a lease for long, and hangs.
  process.kill(frozen.pid, 'SIGSTOP');
  await postgres.sql('tendon', `UPDATE tendon.servers SET until = now() + interval '1 hour' WHERE url = '${frozen.url}'`);
  await fetch(`${one.url}/cluster/drain`, { method: 'POST' });
  const { code, printed } = await doctor({ TENDON_DATABASE_URL: url, JWT_SECRET });
  process.kill(frozen.pid, 'SIGCONT');
  expect(code).toBe(1);
  expect(printed).toMatch(new RegExp(`FAIL {2}server ${frozen.url}: not reached from here`));
  expect(printed).toMatch(new RegExp(`note {2}server ${one.url}: .*it takes no work: draining`));
});

itInFull('CK1101: a database that loses what it has shown, one without servers, and none at all are named with what to do', async () => {
  const { postgres, url } = await database();
  await postgres.sql('postgres', 'ALTER DATABASE tendon SET synchronous_commit = off');
  const bare = await doctor({ TENDON_DATABASE_URL: url, JWT_SECRET });
  expect(bare.printed).toContain('no server has worked on it yet');
  expect(bare.printed).toMatch(/FAIL {2}commits: .*set it to on/);
  expect(bare.printed).toMatch(/FAIL {2}servers: none has a lease/);
  expect(await postgres.sql('tendon', `SELECT count(*) FROM pg_namespace WHERE nspname = 'tendon'`)).toBe('0');
  expect((await doctor({ TENDON_DATABASE_URL: url })).printed).toMatch(/FAIL {2}secret: set JWT_SECRET/);
  expect((await doctor({})).printed).toMatch(/FAIL {2}database: set TENDON_DATABASE_URL/);
  await postgres.kill();
  const gone = await doctor({ TENDON_DATABASE_URL: url, JWT_SECRET });
  expect([gone.code, gone.printed]).toEqual([1, expect.stringMatching(/^FAIL {2}database: Postgres/)]);
});
