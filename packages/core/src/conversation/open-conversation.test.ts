import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bash, done, outline, stage } from './conversation.test-support.ts';

it('EN1: a new conversation introduces itself and waits for the user', async () => {
  const { events, conversation } = await stage();
  expect(outline(await events())).toEqual([
    'environment .agent_state_changed:loading',
    'agent system',
    'environment .agent_state_changed:awaiting_user_input',
  ]);
  expect(conversation.state.agentState).toBe('awaiting_user_input');
});

it('EN2: a task runs from the first message to its end, in the order old clients know', async () => {
  const { say, events, untilState, folder } = await stage({ script: [bash('echo hello > a.txt && cat a.txt'), done] });
  const result = await say('write hello');
  expect(result).toMatchObject({ ok: true, event: { id: 3, action: 'message', source: 'user' } });
  await untilState('finished');
  expect(outline(await events()).slice(3)).toEqual([
    'user message',
    'user recall',
    'environment .agent_state_changed:running',
    'environment .recall<4',
    'agent run',
    'agent .run<7',
    'agent finish',
    'environment .agent_state_changed:finished',
  ]);
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('hello\n');
});

it('EN3: an answer without a call is a message that waits for the user', async () => {
  const { say, events, untilState } = await stage({ script: [{ text: 'Which file?' }] });
  await say('fix it');
  const { id } = await untilState('awaiting_user_input', 3);
  expect((await events())[id - 1]).toMatchObject({
    action: 'message',
    source: 'agent',
    args: { content: 'Which file?', wait_for_response: true },
  });
});
