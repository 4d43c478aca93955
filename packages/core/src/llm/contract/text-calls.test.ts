import { Secret } from '@tendon/protocol/masking';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stage, systemClock } from '../../conversation/conversation.test-support.ts';
import { createLlmProvider } from '../create-llm-provider.ts';
import type { LlmProvider, ToolCalling } from '../llm-provider.ts';
import { ModelTraitsBook } from '../model-traits.ts';
import { startModelEndpoint, type EndpointRequest, type EndpointTurn, type ModelEndpoint } from './model-endpoint.ts';
import { answerOf, collect, failureOf, KEY } from './subjects.ts';

type Body = EndpointRequest['body'];
interface Sent {
  readonly role: string;
  readonly content: string | readonly { readonly text?: string }[];
  readonly tool_calls?: unknown;
}
const messagesOf = (body: Body) => body.messages as readonly Sent[];
const textOf = ({ content }: Sent) => (typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join(''));

const refused = (message: string, status = 400): EndpointTurn => ({ status, body: { error: { message, type: 'invalid_request_error' } } });

/** As strict as the templates of models without tools: no tools, no role for results, and turns that alternate. */
function faultOf(body: Body): string | undefined {
  if (body.tools !== undefined || body.tool_choice !== undefined) return 'registry.example/library/plain:7b does not support tools';
  const [system, ...turns] = messagesOf(body);
  if (system?.role !== 'system') return 'the first message must be the system prompt';
  if (messagesOf(body).some(({ role, tool_calls: calls }) => role === 'tool' || calls !== undefined)) return 'unknown role: tool';
  const isAlternating = turns.every(({ role }, index) => role === (index % 2 === 0 ? 'user' : 'assistant'));
  return isAlternating ? undefined : 'Conversation roles must alternate user/assistant/user/assistant/...';
}

async function endpointOf(turns: Parameters<typeof startModelEndpoint>[1]): Promise<ModelEndpoint> {
  const endpoint = await startModelEndpoint('openai', turns);
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  return endpoint;
}

function providerOf(
  endpoint: ModelEndpoint,
  options: { readonly traits?: ModelTraitsBook; readonly toolCalling?: ToolCalling } = {},
): LlmProvider {
  return createLlmProvider({ model: 'own/plain', apiKey: new Secret(KEY), baseUrl: endpoint.url, clock: systemClock, ...options });
}

const STEPS = 20;
const call = (name: string, parameter: string, value: string) =>
  `<function=${name}>\n<parameter=${parameter}>${value}</parameter>\n</function>`;

/** Step n of the task, in pieces of three characters. */
function step(body: Body): EndpointTurn {
  const fault = faultOf(body);
  if (fault !== undefined) return refused(fault);
  const done = messagesOf(body).filter(
    (message) => message.role === 'user' && textOf(message).startsWith('EXECUTION RESULT of [execute_bash]:'),
  );
  const text =
    done.length < STEPS
      ? `Step ${done.length}.\n\n${call('execute_bash', 'command', `echo s${done.length}`)}`
      : call('finish', 'message', 'Done.');
  return { text: text.match(/[^]{1,3}/g) ?? [] };
}

describe('a model without tools', () => {
  it('LM720: finishes a task of twenty steps, calls written as text and results read as messages', async () => {
    const endpoint = await endpointOf(step);
    const { say, untilState, events } = await stage({ provider: providerOf(endpoint) });
    await say('echo twenty times');
    await untilState('finished');
    const outputs = (await events()).flatMap((event) =>
      'observation' in event && event.observation === 'run' ? [event.content.trim()] : [],
    );
    expect(outputs).toEqual(Array.from({ length: STEPS }, (_, index) => `s${index}`));
    const last = messagesOf(endpoint.requests.at(-1)!.body);
    expect(textOf(last.at(-1)!)).toMatch(/^EXECUTION RESULT of \[execute_bash\]:\ns19/);
    expect(textOf(last.at(-2)!)).toBe(`Step 19.\n\n${call('execute_bash', 'command', 'echo s19')}`);
  });

  it('LM724: is asked with tools once, and not again in any conversation', async () => {
    const endpoint = await endpointOf(step);
    const traits = new ModelTraitsBook();
    for (const provider of [providerOf(endpoint, { traits }), providerOf(endpoint, { traits })]) {
      expect(answerOf(await collect(provider)).toolCalls).toMatchObject([{ name: 'execute_bash', arguments: '{"command":"echo s0"}' }]);
    }
    expect(endpoint.requests.map(({ body }) => body.tools !== undefined)).toEqual([true, false, false]);
  });

  it.each([
    [400, '`tool calling` is not supported with this model'],
    [400, 'deepseek-reasoner does not support Function Calling'],
    [400, 'Function calling is not enabled for models/gemma-3-27b-it'],
    [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
    [400, "This model doesn't support tool use."],
    [404, 'No endpoints found that support tool use. Try disabling "execute_bash".'],
    [500, 'tools param requires --jinja flag'],
    [400, 'Unrecognized request argument supplied: tools'],
    [422, "Unsupported parameter: 'tools' is not supported with this model."],
  ])('LM724: HTTP %i %s', async (status, message) => {
    const endpoint = await endpointOf((body) => (body.tools ? refused(message, status) : { text: ['ok'] }));
    expect(answerOf(await collect(providerOf(endpoint))).text).toBe('ok');
  });

  it.each([
    "messages.1: role 'tool' must be a response to a preceding message with 'tool_calls'",
    'tools.0.custom.input_schema: input_schema does not support oneOf at the top level',
    "Invalid schema for function 'x': 'oneOf' is not permitted.",
  ])('LM724: %s: this is another fault', async (message) => {
    const endpoint = await endpointOf([refused(message)]);
    expect(failureOf(await collect(providerOf(endpoint))).error.message).toContain(message);
    expect(endpoint.requests).toHaveLength(1);
  });

  it('LM724: an endpoint that has answered with calls is not taken for one without them', async () => {
    const calls = [{ id: 'a', name: 'execute_bash', pieces: ['{"command":"ls"}'] }];
    const endpoint = await endpointOf((_body, place) => (place === 0 ? { calls } : refused('the model does not support tools')));
    const provider = providerOf(endpoint);
    expect(answerOf(await collect(provider)).toolCalls).toHaveLength(1);
    expect(failureOf(await collect(provider)).error.message).toContain('does not support tools');
  });
});

it('LM725: the setting decides before the endpoint is asked', async () => {
  const endpoint = await endpointOf((body) => (body.tools ? refused('the model does not support tools') : { text: ['ok'] }));
  expect(answerOf(await collect(providerOf(endpoint, { toolCalling: 'text' }))).text).toBe('ok');
  expect(failureOf(await collect(providerOf(endpoint, { toolCalling: 'native' }))).error.message).toContain('does not support tools');
  expect(endpoint.requests.map(({ body }) => body.tools !== undefined)).toEqual([false, true]);
});
