import { PostgresCluster } from '@tendon/testing/postgres';
import { oddServer, TendonProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';

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

/** A server with a conversation whose model is about to answer, until `release`: that long it drains. */
async function startAtWork(env: NodeJS.ProcessEnv) {
  const asked = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const url = await oddServer((_request, response) => {
    asked.resolve();
    void released.then(() => response.writeHead(400).end());
  });
  const tendon = await start({ ...env, LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'sk-of-the-tests', LLM_BASE_URL: url });
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', { initial_user_msg: 'Hello' });
  await asked.promise;
  return { tendon, id, release };
}

async function readinessOf({ url }: TendonProcess): Promise<unknown> {
  return (await fetch(`${url}/ready`)).json();
}

it('SV1252: over Postgres a signal drains first, and the next server goes on', async () => {
  const { url: TENDON_DATABASE_URL } = await postgres();
  const { tendon, id, release } = await startAtWork({ TENDON_DATABASE_URL });
  const ended = tendon.kill('SIGTERM');
  await expect.poll(() => readinessOf(tendon)).toEqual({ status: 'unready', reason: 'draining' });
  release();
  await ended;
  const next = await start({ TENDON_DATABASE_URL });
  expect((await next.conversations()).map((each) => each.conversation_id)).toEqual([id]);
});

itInFull('SV1252: a second signal waits for nothing', async () => {
  const { url: TENDON_DATABASE_URL } = await postgres();
  const { tendon } = await startAtWork({ TENDON_DATABASE_URL, TENDON_DRAIN_SECONDS: '3600' });
  const ended = tendon.kill('SIGTERM');
  await expect.poll(() => readinessOf(tendon)).toMatchObject({ reason: 'draining' });
  await Promise.all([ended, tendon.kill('SIGTERM')]);
});

itInFull('SV1250: a server is ready while its database answers', async () => {
  const { cluster, url: TENDON_DATABASE_URL } = await postgres();
  const tendon = await start({ TENDON_DATABASE_URL });
  expect(await readinessOf(tendon)).toEqual({ status: 'ready' });
  await cluster.kill();
  await expect.poll(() => readinessOf(tendon)).toEqual({ status: 'unready', reason: 'storage' });
  await cluster.resume();
  await expect.poll(() => readinessOf(tendon)).toEqual({ status: 'ready' });
});
