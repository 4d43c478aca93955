import { CallToolMcpAction, ChangeAgentStateAction, isObservation, McpObservation } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { done, stage } from '../conversation/conversation.test-support.ts';
import type { LlmRequest } from '../llm/llm-provider.ts';
import type { ScriptedStep } from '../llm/scripted-provider.ts';
import type { ExternalTools } from './host-capabilities.ts';

/** Asks where to, and says where. */
function booking(limit = new AbortController().signal): ExternalTools {
  const tool = {
    spec: { name: 'book', description: 'Books.', parameters: { type: 'object', properties: {} } },
    needsSandbox: false,
    toAction: () => ({ ok: true, action: CallToolMcpAction.create({ name: 'book', arguments: {} }) }) as const,
  };
  return {
    offered: async () => [tool],
    async call(_action, { ask }) {
      const words = await ask({ content: 'Where to?', choices: ['Rome', 'Oslo'] }, limit);
      return McpObservation.create(`booked ${words ?? 'nothing'}`, { name: 'book', arguments: {} });
    },
    close: async () => undefined,
  };
}

const book = { toolCalls: [{ name: 'book', arguments: {} }] };
const isQuestion = (event: object): boolean =>
  'action' in event && event.action === 'message' && 'source' in event && event.source === 'agent';

it('EN906: a call asks the user, waits in `awaiting_user_input`, and goes on with their message; the model is shown one result', async () => {
  const seen: LlmRequest[] = [];
  const script = (asked: LlmRequest): ScriptedStep => {
    seen.push(asked);
    return seen.length === 1 ? book : done;
  };
  const { say, until, untilState, events } = await stage({ script, external: booking() });
  await say('begin');
  const asked = await until(isQuestion);
  await untilState('awaiting_user_input', asked.id);
  await say('Rome');
  await untilState('finished', asked.id);
  const log = await events();
  expect(log.find(isQuestion)).toMatchObject({ args: { content: 'Where to?', choices: ['Rome', 'Oslo'], wait_for_response: true } });
  expect(log.filter((event) => isObservation(event) && event.observation === 'mcp')).toMatchObject([{ content: 'booked Rome' }]);
  const results = seen[1]!.messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []));
  expect(results).toEqual([expect.stringContaining('booked Rome')]);
  expect(seen[1]!.messages.some((message) => message.role === 'assistant' && message.text.includes('Where to?'))).toBe(false);
});

it('EN906: after its time nobody is asked any more, and the call goes on without an answer', async () => {
  const limit = new AbortController();
  const { say, until, untilState, events } = await stage({ script: [book, done], external: booking(limit.signal) });
  await say('begin');
  await untilState('awaiting_user_input', (await until(isQuestion)).id);
  limit.abort();
  await untilState('finished');
  expect((await events()).find((event) => isObservation(event) && event.observation === 'mcp')).toMatchObject({
    content: 'booked nothing',
  });
});

it('EN906: a stop ends the question and the call', async () => {
  const { say, submit, until, untilState, events } = await stage({ script: [book], external: booking() });
  await say('begin');
  await untilState('awaiting_user_input', (await until(isQuestion)).id);
  await submit(ChangeAgentStateAction.create({ agent_state: 'stopped' }));
  await untilState('stopped');
  const log = await events();
  const call = log.find((event) => 'action' in event && event.action === 'call_tool_mcp');
  expect(log.filter((event) => isObservation(event) && event.cause === call?.id)).toHaveLength(1);
});
