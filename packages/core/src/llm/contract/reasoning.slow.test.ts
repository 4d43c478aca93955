import { eventsDoc, fromJson, openhandsV0, WS_DIALECTS, type Event } from '@tendon/protocol';
import { Secret } from '@tendon/protocol/masking';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ID, stage, systemClock } from '../../conversation/conversation.test-support.ts';
import { createMemoryStorage } from '../../storage/index.ts';
import { createLlmProvider } from '../create-llm-provider.ts';
import type { LlmMessage, LlmProvider } from '../llm-provider.ts';
import { NO_REASONING, NO_SIGNATURE } from '../reasoning-replay.ts';
import { startModelEndpoint, type EndpointRequest, type EndpointTurn, type ModelEndpoint } from './model-endpoint.ts';
import { answerOf, collect, failureOf, KEY } from './subjects.ts';

type Body = EndpointRequest['body'];

/** What the wires have in their requests, as far as it is read here. */
interface Sent {
  readonly messages: readonly SentAnswer[];
  readonly input: readonly { readonly type?: string; readonly encrypted_content?: string }[];
  /** Gemini's. */
  readonly contents: readonly {
    readonly role: string;
    readonly parts: readonly { readonly functionCall?: object; readonly thoughtSignature?: string }[];
  }[];
  readonly thinking?: object;
  readonly reasoning_effort?: string;
}
const sent = (body: Body): Sent => body as unknown as Sent;

interface SentAnswer {
  readonly role: string;
  readonly content: readonly {
    readonly thinking?: string;
    readonly signature?: string;
    /** Bedrock's. */
    readonly reasoningContent?: { readonly reasoningText: { readonly text: string; readonly signature?: string } };
  }[];
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly object[];
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly extra_content?: { readonly google?: { readonly thought_signature?: string } };
  }[];
}

const TURNS = 20;
const thoughtOf = (turn: number) => `I think about step ${turn}. `;
const signatureOf = (turn: number) => Buffer.from(`signed ${turn}`).toString('base64');

/** Step n of the task: reasoning and a call; the last one finishes. */
function turnOf(turn: number, reasoningIn?: EndpointTurn['reasoningIn']): EndpointTurn {
  const call = turn < TURNS ? { name: 'think', pieces: ['{"thought":', `"${turn}"}`] } : { name: 'finish', pieces: ['{"message":"done"}'] };
  return {
    reasoning: [thoughtOf(turn), 'Done thinking.'],
    signature: signatureOf(turn),
    calls: [{ id: `call${String(turn).padStart(5, '0')}`, ...call }],
    ...(reasoningIn && { reasoningIn }),
  };
}

const refusal = (message: string): EndpointTurn => ({ status: 400, body: { error: { type: 'invalid_request_error', message } } });

interface Wire {
  readonly name: string;
  readonly protocol: Parameters<typeof startModelEndpoint>[0];
  readonly model: string;
  /** Vendor's own address, where a name at another one would mean something else. */
  readonly host?: string;
  /** It is given by the user. */
  readonly isAtUsers?: true;
  readonly reasoningIn?: EndpointTurn['reasoningIn'];
  /** What the vendor's page says of a request whose history lacks the reasoning of an answer with calls; undefined when nothing is missing. */
  readonly missing: (body: Body) => string | undefined;
}

const assistants = (body: Body): readonly SentAnswer[] => sent(body).messages.filter(({ role }) => role === 'assistant');
const geminiCalls = (body: Body) => sent(body).contents.flatMap(({ parts }) => parts.filter(({ functionCall }) => functionCall));
const whole = (turn: number) => `${thoughtOf(turn)}Done thinking.`;

const detailsOf = (turn: number) => [
  { type: 'reasoning.text', text: whole(turn), signature: signatureOf(turn), format: 'own-v1', index: 0 },
  { type: 'reasoning.encrypted', data: `sealed ${signatureOf(turn)}`, id: 'rs_1', format: 'own-v1', index: 1 },
];

/** Mistral misses no reasoning: it refuses fields that it does not know, ids of others, and words directly after a result. */
function mistralFault(body: Body): string | undefined {
  const { messages } = sent(body);
  if (messages.some((message) => message.reasoning_content !== undefined || message.reasoning !== undefined))
    return 'body.messages.assistant.reasoning_content: Extra inputs are not permitted';
  const ids = messages.flatMap(({ tool_calls: calls = [], tool_call_id: id }) => [...calls.map((call) => call.id), ...(id ? [id] : [])]);
  const strange = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
  if (strange !== undefined) return `Tool call id was ${strange} but must be a-z, A-Z, 0-9, with a length of 9.`;
  const isAfterResult = messages.some(({ role }, index) => role === 'user' && messages[index - 1]?.role === 'tool');
  return isAfterResult ? "Unexpected role 'user' after role 'tool'" : undefined;
}

const WIRES: readonly Wire[] = [
  {
    name: 'Anthropic',
    protocol: 'anthropic',
    model: 'anthropic/claude-sonnet-4-5-20250929',
    missing: (body) =>
      assistants(body).every(
        ({ content: [thinking] }, turn) => thinking!.thinking === whole(turn + 1) && thinking!.signature === signatureOf(turn + 1),
      )
        ? undefined
        : 'Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
  },
  {
    name: 'DeepSeek',
    protocol: 'openai',
    model: 'deepseek/deepseek-v4-pro',
    missing: (body) =>
      assistants(body).every(({ reasoning_content: text }, turn) => text === whole(turn + 1))
        ? undefined
        : 'The `reasoning_content` in the thinking mode must be passed back to the API.',
  },
  {
    name: 'a server of open models',
    protocol: 'openai',
    model: 'some/kimi-k2-thinking',
    missing: (body) =>
      assistants(body).every(({ reasoning_content: text }, turn) => text === whole(turn + 1))
        ? undefined
        : 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
  },
  {
    name: 'Kimi',
    protocol: 'openai',
    model: 'moonshot/kimi-k2.5',
    missing: (body) =>
      assistants(body).every(({ reasoning_content: text }, turn) => text === whole(turn + 1))
        ? undefined
        : 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
  },
  {
    name: 'OpenRouter',
    protocol: 'openai',
    model: 'openrouter/anthropic/claude-sonnet-4.5',
    reasoningIn: 'reasoning_details',
    missing: (body) =>
      assistants(body).every(
        ({ reasoning_details: details, reasoning, reasoning_content: text }, turn) =>
          JSON.stringify(details) === JSON.stringify(detailsOf(turn + 1)) && reasoning === undefined && text === undefined,
      )
        ? undefined
        : 'Gemini models require OpenRouter reasoning details to be preserved in each request.',
  },
  {
    name: 'Ollama',
    protocol: 'openai',
    model: 'ollama/gpt-oss:20b',
    reasoningIn: 'reasoning',
    missing: (body) =>
      assistants(body).every(({ reasoning, reasoning_content: text }, turn) => reasoning === whole(turn + 1) && text === undefined)
        ? undefined
        : 'the field reasoning of an earlier answer is missing',
  },
  {
    name: 'Mistral',
    protocol: 'openai',
    model: 'mistral/magistral-medium-latest',
    reasoningIn: 'content',
    missing: mistralFault,
  },
  {
    name: 'Gemini',
    protocol: 'openai',
    model: 'gemini/gemini-3-pro-preview',
    missing: (body) =>
      assistants(body).every(
        ({ tool_calls: [call] = [], reasoning_content: text }, turn) =>
          text === undefined && call!.extra_content?.google?.thought_signature === signatureOf(turn + 1),
      )
        ? undefined
        : 'Function call is missing a thought_signature in functionCall parts.',
  },
  {
    name: 'Gemini’s own API',
    protocol: 'google',
    model: 'gemini/gemini-3-pro-preview',
    host: 'https://generativelanguage.googleapis.com/v1beta',
    missing(body) {
      const calls = geminiCalls(body);
      return calls.every(({ thoughtSignature }, turn) => thoughtSignature === signatureOf(turn + 1))
        ? undefined
        : 'Function call is missing a thought_signature in functionCall parts.';
    },
  },
  {
    name: 'Bedrock',
    protocol: 'bedrock',
    model: 'bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    host: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
    isAtUsers: true,
    missing: (body) =>
      assistants(body).every(
        ({ content: [thought] }, turn) =>
          thought!.reasoningContent?.reasoningText.text === whole(turn + 1) &&
          thought!.reasoningContent.reasoningText.signature === signatureOf(turn + 1),
      )
        ? undefined
        : 'Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
  },
  {
    name: 'OpenAI’s Responses API',
    protocol: 'responses',
    model: 'openai/gpt-5.2-codex',
    host: 'https://api.openai.com/v1',
    missing(body) {
      const brought = sent(body)
        .input.filter(({ type }) => type === 'reasoning')
        .map(({ encrypted_content: content }) => content);
      const calls = sent(body).input.filter(({ type }) => type === 'function_call').length;
      const isWhole = JSON.stringify(brought) === JSON.stringify(Array.from({ length: calls }, (_, turn) => signatureOf(turn + 1)));
      return isWhole ? undefined : 'Item of type function_call was provided without its required reasoning item.';
    },
  },
];

function answersIn(body: Body): readonly unknown[] {
  if ('contents' in body) return geminiCalls(body);
  if ('input' in body) return sent(body).input.filter(({ type }) => type === 'function_call');
  // Between a result and a word, Mistral's have an answer without calls.
  return assistants(body).filter(({ content, tool_calls: calls }) => calls !== undefined || Array.isArray(content));
}

/** As strict as the vendor's page: history without its reasoning is refused. */
async function strictEndpoint({ protocol, missing, reasoningIn }: Wire): Promise<ModelEndpoint> {
  const endpoint = await startModelEndpoint(protocol, (body) => {
    const answers = answersIn(body);
    const lack = missing(body);
    return lack === undefined ? turnOf(answers.length + 1, reasoningIn) : refusal(lack);
  });
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  return endpoint;
}

function providerOf(
  { model, host, isAtUsers }: Pick<Wire, 'model' | 'host' | 'isAtUsers'>,
  endpoint: ModelEndpoint,
  effort?: 'high',
): LlmProvider {
  const onlyResponses = { error: { message: 'This model is only supported in v1/responses and not in v1/chat/completions.' } };
  const divert: typeof fetch = async (input, init) => {
    if (String(input).endsWith('/chat/completions')) return Response.json(onlyResponses, { status: 404 });
    return fetch(String(input).replace(host!, endpoint.url), init);
  };
  const address = host ? { fetch: divert, ...(isAtUsers && { baseUrl: host }) } : { baseUrl: endpoint.url };
  return createLlmProvider({ model, apiKey: new Secret(KEY), clock: systemClock, effort, ...address });
}

describe.each(WIRES)('reasoning on the wire of $name', (wire) => {
  it('LM710, LM733: a task of twenty steps is finished, and each request brings back what the model thought', async () => {
    const endpoint = await strictEndpoint(wire);
    const { say, untilState, events } = await stage({ provider: providerOf(wire, endpoint) });
    await say('think, then finish');
    await untilState('finished');
    expect(endpoint.requests).toHaveLength(TURNS);
    expect((await events()).filter(({ reasoning }) => reasoning)).toHaveLength(TURNS);
  });

  it('LM710: it is brought back after a restart too', async () => {
    const endpoint = await strictEndpoint(wire);
    const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
    const first = await stage({ log, provider: providerOf(wire, endpoint), settings: { maxIterations: 3 } });
    await first.say('think, then finish');
    await first.untilState('error');
    await first.conversation.close();
    const second = await stage({ provider: providerOf(wire, endpoint), log, settings: { maxIterations: 100 } });
    await second.say('go on');
    await second.untilState('finished');
    expect(endpoint.requests.every(({ body }) => wire.missing(body) === undefined)).toBe(true);
  });
});

const HISTORY: readonly LlmMessage[] = [
  { role: 'system', text: 'You are an agent.' },
  { role: 'user', text: 'Think.' },
  {
    role: 'assistant',
    text: '',
    reasoning: { model: 'other/model', parts: [{ text: 'theirs', at: 0, metadata: { anthropic: { signature: 'THEIRS' } } }] },
    toolCalls: [{ id: 'a', name: 'think', arguments: '{}', metadata: { google: { thoughtSignature: 'THEIRS' } } }],
  },
  { role: 'tool', toolCallId: 'a', toolName: 'think', text: 'ok' },
];

async function sentTo(
  model: string,
  protocol: 'openai' | 'anthropic',
  answer?: (body: EndpointRequest['body'], place: number) => EndpointTurn,
) {
  const endpoint = await startModelEndpoint(protocol, answer ?? [{ text: ['ok'] }]);
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  const provider = createLlmProvider({ model, apiKey: new Secret(KEY), baseUrl: endpoint.url, clock: systemClock });
  const ask = () => collect(provider, { messages: HISTORY, tools: [] });
  return { endpoint, events: await ask(), ask };
}

it.each([
  ['anthropic/claude-sonnet-4-5', 'anthropic', undefined, undefined],
  ['deepseek/deepseek-v4-flash', 'openai', NO_REASONING, undefined],
  ['moonshot/kimi-k2.5', 'openai', NO_REASONING, undefined],
  ['gemini/gemini-3-pro', 'openai', undefined, NO_SIGNATURE],
  ['groq/some-model', 'openai', undefined, undefined],
  ['own/model', 'openai', undefined, undefined],
] as const)('LM711: %s is not sent what another model thought', async (model, protocol, text, signature) => {
  const { endpoint, events } = await sentTo(model, protocol);
  expect(answerOf(events).text).toBe('ok');
  const [answer] = assistants(endpoint.requests[0]!.body);
  expect(JSON.stringify(answer)).not.toContain('heirs'.toUpperCase());
  expect(JSON.stringify(answer)).not.toContain('theirs');
  expect(answer).toMatchObject({ role: 'assistant' });
  expect(answer!.reasoning_content).toBe(text);
  expect(answer!.tool_calls?.[0]?.extra_content?.google?.thought_signature).toBe(signature);
});

it('LM807: Mistral takes a conversation that another model began, with pictures among its results', async () => {
  const endpoint = await startModelEndpoint('openai', (body) => {
    const fault = mistralFault(body);
    return fault === undefined ? { text: ['ok'] } : refusal(fault);
  });
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  const provider = providerOf({ model: 'mistral/mistral-large-latest' }, endpoint);
  const imageUrls = ['data:image/png;base64,iVBORw0KGgo='];
  const call = { id: 'functions.browse:0', name: 'browse', arguments: '{}' };
  const messages: readonly LlmMessage[] = [
    ...HISTORY,
    { role: 'assistant', text: '', toolCalls: [call, { ...call, id: 'functions.browse:1' }] },
    { role: 'tool', toolCallId: 'functions.browse:0', toolName: 'browse', text: 'seen', imageUrls },
    { role: 'tool', toolCallId: 'functions.browse:1', toolName: 'browse', text: 'seen', imageUrls },
    { role: 'user', text: 'And now?' },
  ];
  expect(answerOf(await collect(provider, { messages, tools: [] })).text).toBe('ok');
  const ids = sent(endpoint.requests[0]!.body).messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
  expect(new Set(ids).size).toBe(3);
});

it('LM710: reasoning that came encrypted alone is sent back, and what makes no sense is left out', async () => {
  const seal = { type: 'reasoning.encrypted', data: 'SEALED', id: 'rs_1', format: 'own-v1', index: 0 };
  const garbage = [null, 7, 'x'].map((reasoning_details) => ({ choices: [{ index: 0, delta: { reasoning_details } }] }));
  const frames = [
    ...garbage,
    { choices: [{ index: 0, delta: { reasoning_details: [null, seal] } }] },
    { choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }] },
  ];
  const stream = `${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')}data: [DONE]\n\n`;
  const endpoint = await startModelEndpoint('openai', [{ garbage: stream }]);
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  const provider = providerOf({ model: 'openrouter/openai/gpt-5.2' }, endpoint);
  const first = answerOf(await collect(provider));
  expect(first).toMatchObject({ text: 'ok', reasoning: [{ text: '', at: 0 }] });
  const { text, reasoning = [] } = first;
  const again: LlmMessage = { role: 'assistant', text, reasoning: { model: provider.model, parts: reasoning } };
  await collect(provider, { messages: [...HISTORY.slice(0, 2), again, { role: 'user', text: 'go on' }], tools: [] });
  expect(assistants(endpoint.requests[1]!.body)[0]).toMatchObject({ content: 'ok', reasoning_details: [seal] });
});

describe('an endpoint that the table does not know', () => {
  const own = (body: Body) => assistants(body)[0]!.reasoning_content as string | undefined;

  it('LM712: that misses the reasoning is sent it from then on', async () => {
    const { endpoint, events, ask } = await sentTo('own/model', 'openai', (body) =>
      own(body) === undefined ? refusal('reasoning_content is missing in assistant tool call message at index 2') : { text: ['ok'] },
    );
    expect(answerOf(events).text).toBe('ok');
    await ask();
    expect(endpoint.requests.map(({ body }) => own(body))).toEqual([undefined, NO_REASONING, NO_REASONING]);
  });

  it('LM712: that does not know the field is sent none from then on', async () => {
    const { endpoint, events, ask } = await sentTo('deepseek/deepseek-v4-pro', 'openai', (body) =>
      own(body) === undefined ? { text: ['ok'] } : refusal("property 'messages.1.reasoning_content' is unsupported"),
    );
    expect(answerOf(events).text).toBe('ok');
    await ask();
    expect(endpoint.requests.map(({ body }) => own(body))).toEqual([NO_REASONING, undefined, undefined]);
  });

  it('LM712: that refuses either way is asked in each way once', async () => {
    const { endpoint, events } = await sentTo('own/model', 'openai', (body) =>
      own(body) === undefined ? refusal('reasoning_content is missing') : refusal('reasoning_content is unsupported'),
    );
    expect(failureOf(events).error.message).toContain('reasoning_content');
    expect(endpoint.requests.map(({ body }) => own(body))).toEqual([undefined, NO_REASONING, undefined]);
  });
});

it('LM712: a signature that is refused is not sent again, nor is thinking asked for', async () => {
  const own = { model: 'anthropic/claude-sonnet-4-5', parts: [{ text: 'mine', at: 0, metadata: { anthropic: { signature: 'OLD' } } }] };
  const endpoint = await startModelEndpoint('anthropic', (body) =>
    JSON.stringify(body).includes('OLD') ? refusal('messages.1.content.0: Invalid `signature` in `thinking` block') : { text: ['ok'] },
  );
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  const provider = providerOf({ model: own.model }, endpoint, 'high');
  const messages = HISTORY.map((message) => (message.role === 'assistant' ? { ...message, reasoning: own } : message));
  expect(answerOf(await collect(provider, { messages, tools: [] })).text).toBe('ok');
  expect(endpoint.requests.map(({ body }) => sent(body).thinking !== undefined)).toEqual([true, false]);
});

it('LM710: a text in which a secret was hidden goes without its signature, and the task goes on', async () => {
  const wire = WIRES[0]!;
  const endpoint = await startModelEndpoint('anthropic', (body) => turnOf(assistants(body).length + 1));
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  const { say, untilState } = await stage({ provider: providerOf(wire, endpoint), secrets: [new Secret('I think about step 3')] });
  await say('think, then finish');
  await untilState('finished');
  const last = JSON.stringify(endpoint.requests.at(-1)!.body);
  expect([2, 3, 4].map((turn) => last.includes(signatureOf(turn)))).toEqual([true, false, true]);
  expect(last).not.toContain('I think about step 3');
});

it('LM713: of an event of a kind that is not known either', () => {
  const event = fromJson({
    id: 7,
    timestamp: '2026-01-01T00:00:00Z',
    source: 'agent',
    action: 'of later',
    reasoning: { sealed: 'SEALED' },
  });
  for (const dialect of [openhandsV0, eventsDoc, ...Object.values(WS_DIALECTS)])
    expect(JSON.stringify(dialect.encode(event, 'live')), dialect.name).not.toContain('SEALED');
});

it('LM713: clients are sent the text of the reasoning, and nothing of its metadata', async () => {
  const wire = WIRES[0]!;
  const { say, untilState, events } = await stage({ provider: providerOf(wire, await strictEndpoint(wire)) });
  await say('think, then finish');
  await untilState('finished');
  const isThought = (event: Event) => 'action' in event && event.action === 'think';
  const [frame] = openhandsV0.encode((await events()).find(isThought)!, 'live');
  expect(frame).toMatchObject({ action: 'think', reasoning_content: whole(1) });
  expect(JSON.stringify(frame)).not.toContain(signatureOf(1));
});

it.each([
  ['anthropic/claude-sonnet-4-5-20250929', 'anthropic', (body: Body) => sent(body).thinking, true],
  ['openai/gpt-5.2', 'openai', (body: Body) => sent(body).reasoning_effort, true],
  ['anthropic/claude-3-haiku-20240307', 'anthropic', (body: Body) => sent(body).thinking, false],
  ['openai/gpt-4o', 'openai', (body: Body) => sent(body).reasoning_effort, false],
] as const)('LM714: the effort is asked of models that think: %s', async (model, protocol, read, isAsked) => {
  const endpoint = await startModelEndpoint(protocol, [{ text: ['ok'] }]);
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  for (const effort of [undefined, 'high'] as const) await collect(providerOf({ model }, endpoint, effort));
  expect(endpoint.requests.map(({ body }) => read(body) !== undefined)).toEqual([false, isAsked]);
});
