/** Two servers and a gateway on one Postgres: a client is served alike wherever it comes in. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Watcher, type TendonProcess, type WireEvent } from '@tendon/testing/servers';
import { Cluster, SCRIPT } from '../cluster/cluster.ts';

let cluster: Cluster;
let one: TendonProcess;
let two: TendonProcess;
let gateway: TendonProcess;
beforeAll(async () => {
  cluster = await Cluster.start();
  [one, two, gateway] = [await cluster.add({}, SCRIPT), await cluster.add({}, SCRIPT), await cluster.gateway({}, SCRIPT)];
});
afterAll(() => cluster.remove());

const isAnswer = ({ content, args, source }: WireEvent): boolean => source === 'agent' && [content, args?.content].includes('It is done.');

it('SV1231: a conversation of one server is followed, written to, stopped and listed at another', async () => {
  const { conversation_id: id } = await one.json<{ conversation_id: string }>('/api/conversations', {});
  expect(await cluster.owned()).toEqual({ [one.url]: 1 });
  const watcher = new Watcher(two.url, id);
  onTestFinished(() => watcher.close());
  await watcher.untilState('awaiting_user_input');
  watcher.send('message', { content: 'Do it.', image_urls: [], file_urls: [] });
  await watcher.until(isAnswer, 'the answer');
  await watcher.untilState('awaiting_user_input', 'finished');
  const lists = await Promise.all([one, two, gateway].map((server) => server.json('/api/conversations?limit=10')));
  expect(lists[1]).toEqual(lists[0]);
  expect(lists[2]).toEqual(lists[0]);
  expect(lists[0]).toMatchObject({ results: [{ conversation_id: id, num_connections: 1, agent_state: 'awaiting_user_input' }] });
  expect(await gateway.trajectory(id)).toEqual(await one.trajectory(id));
  expect(await two.json(`/api/conversations/${id}/stop`, {})).toMatchObject({ status: 'ok', conversation_status: 'RUNNING' });
  expect(await one.json(`/api/conversations/${id}`)).toMatchObject({ status: 'STOPPED', num_connections: 0 });
});
