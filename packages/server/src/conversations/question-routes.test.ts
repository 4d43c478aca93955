import type { ConversationQuestion } from '@tendon/protocol';
import { expect, it, vi } from 'vitest';
import { socketIoClient, testServer } from '../server.test-support.ts';

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });

it('SV960, SV961: what waits is read and answered by its event, anything else is refused; what was written is found over all conversations', async () => {
  const script = [bash('echo marmalade'), { text: 'Which of the two otters?' }, { text: 'good' }];
  const server = await testServer({ script, env: { SECURITY_CONFIRMATION_MODE: 'true' } });
  const id = await server.create();
  const path = `/api/conversations/${id}/question`;
  const question = async () => ((await (await fetch(`${server.url}${path}`)).json()) as ConversationQuestion).question;
  const answer = async (body: object) => (await server.post(path, body)).status;
  expect(await question()).toBeNull();
  expect(await answer({ event_id: 0, answer: 'approve' })).toBe(409);

  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  client.send({ action: 'message', args: { content: 'begin' } });
  await client.frames.untilState('awaiting_user_confirmation');
  const first = (await question())!;
  expect(first).toMatchObject({ kind: 'confirmation', action: { action: 'run', args: { command: 'echo marmalade' } } });
  expect([
    await answer({ event_id: first.event_id + 1, answer: 'approve' }),
    await answer({ event_id: first.event_id, answer: 'reply', text: 'yes' }),
    await answer({ event_id: first.event_id, answer: 'approve' }),
  ]).toEqual([409, 400, 200]);

  const second = (await vi.waitFor(async () => (await question()) ?? Promise.reject(new Error('nothing waits')), { timeout: 50_000 }))!;
  expect(second).toMatchObject({ kind: 'question', action: { args: { content: 'Which of the two otters?' } } });
  expect(await answer({ event_id: first.event_id, answer: 'approve' })).toBe(409);
  expect(await answer({ event_id: second.event_id, answer: 'reply', text: 'the left one' })).toBe(200);
  await client.frames.until((frame) => frame.action === 'message' && (frame.args as { content?: string }).content === 'good');

  const found = await (await fetch(`${server.url}/api/search?query=MARMALADE`)).json();
  expect(found).toMatchObject({
    hits: [{ conversation_id: id, excerpt: expect.stringContaining('marmalade') as string }],
    is_partial: false,
  });
  expect(await (await fetch(`${server.url}/api/search?query=xyzzy`)).json()).toEqual({ hits: [], is_partial: false });
  expect((await fetch(`${server.url}/api/conversations/none/question`)).status).toBe(404);
});
