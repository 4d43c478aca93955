import { createHash } from 'node:crypto';
import { Secret } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { answerJson, oddServer } from '@tendon/testing/servers';
import { CLUSTER_SECRET, TestCluster, testNode } from './cluster.test-support.ts';
import { HOP_HEADER, HopSignature } from './hop-signature.ts';
import { questionPath } from './peer-answers.ts';
import { Peers } from './peers.ts';

async function pair() {
  const cluster = new TestCluster();
  const behind = (_request: unknown, response: { writeHead(status: number): { end(text: string): void } }): void =>
    response.writeHead(418).end('behind');
  const [near, far] = [await testNode(cluster, { id: 'near', behind }), await testNode(cluster, { id: 'far', behind })];
  const created = await far.context.conversations.create({});
  if (!created.ok) throw new Error(created.error.message);
  const { id } = created.record;
  cluster.owners.set(id, 'far');
  return { cluster, near, far, id, peers: new Peers(near.context) };
}

it('SV1220: a server that has a conversation open says how it is and how many look at it; one that has not says nothing', async () => {
  const { far, id, peers } = await pair();
  expect([...(await peers.views([id, 'unknown']))]).toEqual([]);
  const held = await far.context.conversations.enter(id);
  const views = await peers.views([id, 'unknown']);
  expect([...views.keys()]).toEqual([id]);
  expect(views.get(id)).toMatchObject({ connections: 1, summary: { agent_state: 'awaiting_user_input', accumulated_cost: 0 } });
  held?.release();
  expect(await peers.sandboxes()).toEqual([]);
  expect(await peers.reclaim({ all: false })).toEqual([{ kept: 0, reaped: 0 }]);
  peers.close();
});

it('SV1221: a server that is gone, answers nonsense, or nothing, costs no more than a deadline', async () => {
  const { cluster, far, id, peers } = await pair();
  far.die();
  expect([...(await peers.views([id]))]).toEqual([]);
  const nonsense = await oddServer((_request, response) => answerJson(response, 200, [1, 2]));
  cluster.nodes.set('far', { id: 'far', url: nonsense, takesConversations: true, load: 0 });
  expect((await peers.views([id])).get(id)).toBeUndefined();
  const silent = await oddServer(() => undefined);
  cluster.nodes.set('far', { id: 'far', url: silent, takesConversations: true, load: 0 });
  expect([...(await peers.views([id]))]).toEqual([]);
  peers.close();
});

it('SV1222: what servers ask each other is asked by nobody else', async () => {
  const { far } = await pair();
  const body = '{"ids":[]}';
  const path = questionPath('conversations/views', body);
  const signature = new HopSignature(new Secret(CLUSTER_SECRET));
  const host = new URL(far.url).host;
  const ask = async (sent: string, signed: string | undefined): Promise<number> => {
    const headers = { 'content-type': 'application/json', ...(signed !== undefined && { [HOP_HEADER]: signed }) };
    return (await fetch(far.url + path, { method: 'POST', headers, body: sent })).status;
  };
  const request = { method: 'POST', url: path, headers: { host } };
  const from = { from: 'near', client: '' };
  const signed = signature.sign(request, from, Date.now());
  expect(await ask(body, signed)).toBe(200);
  expect(await ask(body, undefined)).toBe(418);
  expect(await ask(body, new HopSignature(new Secret('another secret')).sign(request, from, Date.now()))).toBe(418);
  // Forwarded for a client.
  expect(await ask(body, signature.sign(request, { from: 'near', client: '192.0.2.9' }, Date.now()))).toBe(418);
  // Signed for another body.
  expect(await ask('{"ids":["c1"]}', signed)).toBe(404);
  expect(createHash('sha256').update(body).digest('base64url')).toBe(path.split('digest=')[1]);
});
