import { PostgresCluster } from '@tendon/testing/postgres';
import { TendonProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';

async function start(env: NodeJS.ProcessEnv): Promise<TendonProcess> {
  const tendon = await TendonProcess.start({ RUNTIME: 'none', ...env });
  onTestFinished(() => tendon.remove());
  return tendon;
}

async function postgres(): Promise<{ readonly cluster: PostgresCluster; readonly url: string }> {
  const cluster = await PostgresCluster.start();
  onTestFinished(() => cluster.remove());
  return { cluster, url: await cluster.createDatabase('drained') };
}

async function readinessOf({ url }: TendonProcess): Promise<unknown> {
  return (await fetch(`${url}/ready`)).json();
}

it('SV1252: over Postgres a signal drains first, and the next server goes on', async () => {
  const { url: TENDON_DATABASE_URL } = await postgres();
  const tendon = await start({ TENDON_DATABASE_URL });
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const ended = tendon.kill('SIGTERM');
  await expect.poll(() => readinessOf(tendon)).toEqual({ status: 'unready', reason: 'draining' });
  await ended;
  const next = await start({ TENDON_DATABASE_URL });
  expect((await next.conversations()).map((each) => each.conversation_id)).toEqual([id]);
});

it('SV1252: a second signal waits for nothing', async () => {
  const { url: TENDON_DATABASE_URL } = await postgres();
  const tendon = await start({ TENDON_DATABASE_URL, TENDON_DRAIN_SECONDS: '3600' });
  const ended = tendon.kill('SIGTERM');
  await expect.poll(() => readinessOf(tendon)).toMatchObject({ reason: 'draining' });
  await Promise.all([ended, tendon.kill('SIGTERM')]);
});

it('SV1250: a server is ready while its database answers', async () => {
  const { cluster, url: TENDON_DATABASE_URL } = await postgres();
  const tendon = await start({ TENDON_DATABASE_URL });
  expect(await readinessOf(tendon)).toEqual({ status: 'ready' });
  await cluster.kill();
  await expect.poll(() => readinessOf(tendon)).toEqual({ status: 'unready', reason: 'storage' });
  await cluster.resume();
  await expect.poll(() => readinessOf(tendon)).toEqual({ status: 'ready' });
});
