/** The server on Postgres, end to end: what it answered is there after a kill and on another machine's home, and nothing of it is on the disk. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PostgresCluster } from '@tendon/testing/postgres';
import { TendonProcess, Watcher } from '@tendon/testing/servers';

const SCRIPT = {
  answers: [{ toolCalls: [{ name: 'execute_bash', arguments: { command: 'echo ran >> count; cat count' } }] }, { text: 'It is done.' }],
};

let cluster: PostgresCluster;
const servers: TendonProcess[] = [];
beforeEach(async () => {
  cluster = await PostgresCluster.start();
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.remove();
  await cluster.remove();
});

async function serve(url: string): Promise<TendonProcess> {
  const server = await TendonProcess.scripted(SCRIPT, { TENDON_DATABASE_URL: url, JWT_SECRET: 'the same on every machine' });
  servers.push(server);
  return server;
}

it('SV1101: a conversation is in the database alone: it survives a kill of the server, and goes on over another home', async () => {
  const url = await cluster.createDatabase('tendon');
  const first = await serve(url);
  const { conversation_id: id } = await first.json<{ conversation_id: string }>('/api/conversations', { initial_user_msg: 'Do it.' });
  const watcher = new Watcher(first.url, id);
  await watcher.until(({ content, args }) => [content, args?.content].includes('It is done.'), 'the answer');
  await watcher.untilState('awaiting_user_input', 'finished');
  watcher.close();
  await first.json('/api/secrets', { name: 'TOKEN', value: 'a-secret-of-mine' });
  const before = await first.trajectory(id);
  expect(existsSync(join(first.home, 'tendon.db'))).toBe(false);
  expect(first.output).not.toContain(url);

  await expect(serve(url)).rejects.toThrow(/in use by process \d+ on/);
  await first.kill('SIGKILL');
  const second = await serve(url);
  expect((await second.trajectory(id)).slice(0, before.length)).toEqual(before);
  expect(await second.json('/api/secrets')).toMatchObject({ custom_secrets: [{ name: 'TOKEN' }] });
  expect(await second.conversations()).toMatchObject([{ conversation_id: id }]);
});

it('SV1102: while Postgres is gone the agent waits, and goes on when it is back', async () => {
  const server = await serve(await cluster.createDatabase('tendon'));
  const { conversation_id: id } = await server.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(server.url, id);
  await watcher.untilState('awaiting_user_input');
  await cluster.kill();
  watcher.send('message', { content: 'Do it.', image_urls: [], file_urls: [] });
  await cluster.resume();
  await watcher.until(({ content, args }) => [content, args?.content].includes('It is done.'), 'the answer');
  watcher.close();
  const ids = (await server.trajectory(id)).map((event) => event.id);
  expect(ids).toEqual(ids.map((_, place) => place));
  expect((await server.trajectory(id)).filter(({ content }) => content?.startsWith('ran'))).toHaveLength(1);
});
