import { Secret } from '@tendon/protocol/masking';
import { createLlmProvider } from '../create-llm-provider.ts';
import type { LlmEvent, LlmProvider, LlmRequest } from '../llm-provider.ts';
import { startModelEndpoint, type EndpointTurn, type ModelEndpoint } from './model-endpoint.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

export const KEY = 'sk-test-0123456789abcdef';

export interface Bench extends AsyncDisposable {
  readonly provider: LlmProvider;
  readonly endpoint: ModelEndpoint;
  readonly clock: TestClock;
}

/** Every protocol that the contract is held against: a real server, the real package, our provider. */
export const PROTOCOLS = [
  { protocol: 'openai', model: 'openai/gpt-4o', name: 'chat completions', reasons: true },
  { protocol: 'anthropic', model: 'anthropic/claude-sonnet-4-20250514', name: 'Anthropic', reasons: true },
  { protocol: 'openai', model: 'openai/gpt-4o', name: 'OpenAI itself', reasons: false, host: 'https://api.openai.com/v1' },
  { protocol: 'responses', model: 'openai/gpt-5.2', name: 'OpenAI’s Responses API', reasons: true, host: 'https://api.openai.com/v1' },
  {
    protocol: 'google',
    model: 'gemini/gemini-2.5-pro',
    name: 'Gemini',
    reasons: true,
    host: 'https://generativelanguage.googleapis.com/v1beta',
  },
  {
    protocol: 'bedrock',
    model: 'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0',
    name: 'Bedrock',
    reasons: true,
    host: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
    isAtUsers: true,
  },
] as const;

/** Those whose models write the text of arguments; Gemini sends objects. */
export const WRITING = PROTOCOLS.filter(({ protocol }) => protocol !== 'google');

/** What is meant for the vendor's own host goes to the endpoint. */
function divert(host: string, url: string): typeof fetch {
  return (input, init) => fetch(String(input).replace(host, url), init);
}

/** `isAtUsers`: the vendor has no address of its own, so the user gives it. */
export function addressOf(subject: (typeof PROTOCOLS)[number], endpoint: ModelEndpoint) {
  if (!('host' in subject)) return { baseUrl: endpoint.url };
  return { fetch: divert(subject.host, endpoint.url), ...('isAtUsers' in subject && { baseUrl: subject.host }) };
}

export async function bench(
  subject: (typeof PROTOCOLS)[number],
  turns: readonly EndpointTurn[],
  options: { readonly silenceMs?: number; readonly clock?: TestClock } = {},
): Promise<Bench> {
  const { protocol, model } = subject;
  const endpoint = await startModelEndpoint(protocol, turns);
  const clock = options.clock ?? createTestClock();
  const address = addressOf(subject, endpoint);
  const provider = createLlmProvider({
    model,
    apiKey: new Secret(KEY),
    clock,
    ...address,
    ...(options.silenceMs && { silenceMs: options.silenceMs }),
  });
  return { provider, endpoint, clock, [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose]() };
}

export { createTestClock };

const TOOL = {
  name: 'execute_bash',
  description: 'Runs a command.',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
};

export const REQUEST: LlmRequest = {
  messages: [
    { role: 'system', text: 'You are an agent.' },
    { role: 'user', text: 'Say hello.' },
  ],
  tools: [TOOL],
};

export async function collect(
  provider: LlmProvider,
  request: LlmRequest = REQUEST,
  signal = new AbortController().signal,
): Promise<LlmEvent[]> {
  const events: LlmEvent[] = [];
  for await (const event of provider.stream(request, { signal })) events.push(event);
  return events;
}

/** The end of a stream, checked to be the only one. */
function endOf(events: readonly LlmEvent[]): Extract<LlmEvent, { type: 'done' | 'failed' }> {
  const ends = events.filter((event) => event.type === 'done' || event.type === 'failed');
  const [end] = ends;
  if (ends.length !== 1 || end !== events.at(-1)) throw new Error(`expected one end, and last: ${JSON.stringify(events)}`);
  return end as Extract<LlmEvent, { type: 'done' | 'failed' }>;
}

export function answerOf(events: readonly LlmEvent[]): Extract<LlmEvent, { type: 'done' }>['answer'] {
  const end = endOf(events);
  if (end.type === 'failed') throw new Error(`failed: ${end.failure.error.message}`);
  return end.answer;
}

export function failureOf(events: readonly LlmEvent[]): Extract<LlmEvent, { type: 'failed' }>['failure'] {
  const end = endOf(events);
  if (end.type === 'done') throw new Error(`answered: ${JSON.stringify(end.answer)}`);
  return end.failure;
}

export function textOf(events: readonly LlmEvent[], part: 'text' | 'reasoning' | 'tool'): string {
  return events.map((event) => (event.type === 'delta' && event.part === part ? event.text : '')).join('');
}
