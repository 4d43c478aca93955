/** `deploy/compose`, started whole: two servers, Postgres, a machine of sandboxes, and the proxy. */
import { Watcher, type WireEvent } from '@tendon/testing/servers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Composition } from './composition/composition.ts';

const BUILD_MS = 1_200_000;
const command = (text: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command: text } }] });
const REACHES_DATABASE = '(exec 3<>/dev/tcp/postgres/5432) 2>/dev/null && echo reached || echo apart';
const ANSWERS = [
  command('echo ran >>count; until [ -e go ]; do sleep 0.1; done; cat count'),
  { text: 'The first is done.' },
  command(`echo again >>count; cat count; ${REACHES_DATABASE}`),
  { text: 'The second is done.' },
  { text: 'The third is done.' },
];
const SERVERS = ['server-1', 'server-2'];

let composition: Composition;
beforeAll(async () => {
  composition = await Composition.start({ answers: ANSWERS });
}, BUILD_MS);
afterAll(() => composition?.remove());

it('SV1268: the composition starts whole, and a conversation through its proxy outlives the containers of its servers', async () => {
  const { conversation_id: id } = await composition.json<{ conversation_id: string }>('/api/conversations', { initial_user_msg: 'Do it.' });
  const watcher = new Watcher(composition.url, id, { session_api_key: composition.key });
  const says = (text: string) => watcher.until(({ args }) => args?.content === text, `"${text}"`);
  const asks = (content: string) => watcher.send('message', { content, image_urls: [], file_urls: [] });
  const sandboxes = (...words: readonly string[]) => composition.run('sandboxes', ...words);
  const workspace = `/var/lib/tendon/executor/workspaces/${id}`;

  // Killed in the midst of a command.
  await expect.poll(() => sandboxes('sh', '-c', `cat ${workspace}/count || true`)).toBe('ran');
  const killed = await composition.ownerOf(id);
  await composition.compose('kill', killed);
  await sandboxes('touch', `${workspace}/go`);
  await says('The first is done.');
  expect(SERVERS.filter((name) => name !== killed)).toEqual([await composition.ownerOf(id)]);
  asks('And again.');
  await says('The second is done.');

  // Replaced as docs/deploy.md says.
  await composition.up('--no-deps', killed);
  const replaced = await composition.ownerOf(id);
  await composition.up('--no-deps', '--force-recreate', replaced);
  await expect.poll(() => composition.ownerOf(id)).toBe(killed);
  asks('And a last time.');
  await says('The third is done.');
  watcher.close();

  const { trajectory } = await composition.json<{ trajectory: WireEvent[] }>(`/api/conversations/${id}/trajectory`);
  expect(trajectory.map((event) => event.id)).toEqual(trajectory.map((_, at) => at));
  const outputs = trajectory.filter(({ observation }) => observation === 'run').map(({ content }) => content?.trim());
  expect(outputs).toEqual(['ran', 'ran\nagain\napart']);
  // Of its networks the proxy has one, and the servers both.
  expect(await composition.run('proxy', 'bash', '-c', REACHES_DATABASE)).toBe('apart');
  for (const server of SERVERS) expect(await composition.run(server, 'bash', '-c', REACHES_DATABASE)).toBe('reached');
});

it('SV1105: a server whose container starts before that of its database waits for it', async () => {
  await composition.compose('kill', 'postgres', 'server-1');
  await composition.compose('up', '--detach', '--no-deps', 'server-1');
  await expect.poll(() => composition.compose('logs', 'server-1')).toMatch(/Postgres \(postgres:5432\/tendon\): .*The server waits for it/);
  await composition.up('--no-deps', 'postgres', 'server-1');
  await expect.poll(() => composition.json('/ready')).toEqual({ status: 'ready' });
});
