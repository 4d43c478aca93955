import { expect, it } from 'vitest';
import { testServer } from '../server.test-support.ts';

it('SV590: links to a conversation end with it, and with the one that delegated it', async () => {
  const server = await testServer();
  const { conversations, access } = server.engine;
  const [remaining, deleted] = [await server.create(), await server.create()];
  const parent = (await conversations.get(deleted))!;
  const { id: delegated } = await conversations.createDelegated(parent, { actionId: 1, agent: 'CodeActAgent' });
  const tokens: Record<string, string> = {};
  for (const id of [remaining, deleted, delegated]) {
    const answer = await server.post(`/api/conversations/${id}/shares`, { expires_in: 3600 });
    tokens[id] = ((await answer.json()) as { token: string }).token;
  }
  const shown = async (id: string) => (await server.get(`/api/conversations/${id}`, { 'x-tendon-share': tokens[id]! })).status;
  expect(await shown(delegated)).toBe(200);

  const answer = await fetch(`${server.url}/api/conversations/${deleted}`, { method: 'DELETE' });
  expect(await answer.json()).toBe(true);
  expect(access.shares.list.map(({ value }) => value.conversation)).toEqual([remaining]);
  expect(await Promise.all([remaining, deleted, delegated].map(shown))).toEqual([200, 401, 401]);
});
