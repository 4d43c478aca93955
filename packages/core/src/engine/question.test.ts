import { expect, it } from 'vitest';
import { bash, done, outline, stage } from '../conversation/conversation.test-support.ts';
import type { LlmRequest } from '../llm/llm-provider.ts';
import type { ScriptedStep } from '../llm/scripted-provider.ts';

const ask = { name: 'ask_user', arguments: { question: 'Which?', choices: ['this', 'that'] } };

it('EN766: the agent asks and waits, and goes on with the answer', async () => {
  const seen: LlmRequest[] = [];
  const script = (asked: LlmRequest): ScriptedStep => {
    seen.push(asked);
    return seen.length === 1 ? { text: 'I need to know.', toolCalls: [ask] } : done;
  };
  const { say, until, untilState, events } = await stage({ script });
  await say('begin');
  const asked = await until((event) => 'action' in event && event.action === 'message' && event.source === 'agent');
  const { id } = await untilState('awaiting_user_input', asked.id);
  expect((await events()).slice(-2)).toMatchObject([
    { action: 'message', args: { content: 'Which?\n\n1. this\n2. that', wait_for_response: true, choices: ['this', 'that'] } },
    { observation: 'agent_state_changed' },
  ]);
  await say('that');
  await untilState('finished', id);
  expect(seen[1]!.messages.slice(-3)).toMatchObject([
    { role: 'assistant', text: 'I need to know.', toolCalls: [{ name: 'ask_user' }] },
    { role: 'tool', text: 'The user was asked; the answer is their next message.' },
    { role: 'user', text: 'that' },
  ]);
});

it('EN766: what stands before the question is carried out first, and nothing after it', async () => {
  const calls = [bash('echo before').toolCalls[0]!, ask, bash('echo after').toolCalls[0]!];
  const { say, until, untilState, events } = await stage({ script: [{ toolCalls: calls }] });
  await say('begin');
  const asked = await until((event) => 'action' in event && event.action === 'message' && event.source === 'agent');
  await untilState('awaiting_user_input', asked.id);
  const log = await events();
  expect(outline(log).filter((line) => line.startsWith('agent .run'))).toHaveLength(1);
  expect(outline(log).filter((line) => line.startsWith('agent .error'))).toHaveLength(1);
});
