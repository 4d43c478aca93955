import { expect, it } from 'vitest';
import type { Clock } from '@tendon/core';
import { socketIoClient, testServer, type SocketIoClient, type WireFrame } from '../server.test-support.ts';
import { systemClock } from '../platform/system-clock.ts';

const call = { toolCalls: [{ name: 'execute_bash', arguments: { command: 'echo done >> proof; wc -l < proof' } }] };

it('SV186: a conversation that only waits for a confirmation leaves memory; the decision opens it, a stop answers the pending action', async () => {
  let passedMs = 0;
  const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + passedMs) };
  const server = await testServer({ script: [call, { text: 'as you like' }], clock, env: { SECURITY_CONFIRMATION_MODE: 'true' } });
  const { conversations } = server.engine;
  const waiting = async (): Promise<{ readonly id: string; readonly latest: number }> => {
    const id = await server.create();
    const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
    client.send({ action: 'message', args: { content: 'begin' } });
    await client.frames.untilState('awaiting_user_confirmation');
    await client.frames.until((frame) => frame.action === 'run');
    client.socket.close();
    await expect.poll(() => conversations.connections(id)).toBe(0);
    return { id, latest: Math.max(...client.frames.ids) };
  };
  const [confirmed, rejected, stopped] = [await waiting(), await waiting(), await waiting()];
  passedMs = 60_000;
  // A deadline, not a measurement: it is looked every 15 seconds.
  await expect.poll(() => conversations.openCount, { timeout: 60_000 }).toBe(0);
  expect(await server.engine.storage.records.list('active')).toEqual([]);

  const decide = async ({ id, latest }: { id: string; latest: number }, agent_state: string): Promise<SocketIoClient> => {
    const client = await socketIoClient(server, { conversation_id: id, latest_event_id: latest });
    client.send({ action: 'change_agent_state', args: { agent_state } });
    return client;
  };
  const isAnswer = (frame: WireFrame): boolean => frame.message === 'as you like';
  const { frames } = await decide(confirmed, 'user_confirmed');
  expect(await frames.until((frame) => frame.observation === 'run')).toMatchObject({ content: '1' });
  await frames.until(isAnswer);
  await (await decide(rejected, 'user_rejected')).frames.until((frame) => frame.observation === 'user_rejected' || isAnswer(frame));
  expect((await server.post(`/api/conversations/${stopped.id}/stop`)).status).toBe(200);
  expect(await conversations.get(stopped.id)).toMatchObject({ stopped: true, summary: { agent_state: 'stopped' } });
});
