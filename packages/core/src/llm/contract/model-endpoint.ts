/**
 * A model endpoint of our own for the tests: a real HTTP server that speaks the streaming protocols of the vendors
 * and can misbehave in every way that real ones do.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { bedrockFrames } from './bedrock-frames.ts';

/** One answer of the endpoint. */
export interface EndpointTurn {
  readonly reasoning?: readonly string[];
  /** Where chat completions hold the reasoning; default `reasoning_content`. */
  readonly reasoningIn?: 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'content';
  /** Of the reasoning: Anthropic's signature, OpenAI's encrypted content; on the first call for Gemini. */
  readonly signature?: string;
  readonly text?: readonly string[];
  /** The arguments in the pieces in which they are sent. */
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly pieces: readonly string[] }[];
  readonly finish?: 'stop' | 'tool_calls' | 'length' | 'content_filter';
  readonly usage?: { readonly input: number; readonly output: number; readonly cacheRead: number };
  /** An HTTP error instead of a stream. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** After the content: `break` destroys the connection, `end` ends the stream without a finish, `hang` says nothing more. */
  readonly ending?: 'break' | 'end' | 'hang';
  /** Sent as the stream instead of anything sensible. */
  readonly garbage?: string;
  /** An error frame inside the stream. */
  readonly errorFrame?: { readonly type: string; readonly message: string; readonly code?: string };
}

export interface EndpointRequest {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
  /** Resolves when the connection of this request is closed. */
  readonly closed: Promise<unknown>;
}

export interface ModelEndpoint extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly EndpointRequest[];
  /** Resolves when the next request has been answered as far as it will be. */
  answered(): Promise<void>;
}

type Protocol = 'openai' | 'anthropic' | 'responses' | 'google' | 'bedrock';

/** Answers a request with the turn that it is given, by its body and its place; a list is given in order, and its last turn is repeated. */
export async function startModelEndpoint(
  protocol: Protocol,
  turns: readonly EndpointTurn[] | ((body: EndpointRequest['body'], place: number) => EndpointTurn),
  /** What it answers to `GET`, by path; these are not among the requests. */
  lists: Readonly<Record<string, unknown>> = {},
): Promise<ModelEndpoint> {
  const requests: EndpointRequest[] = [];
  let waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET') return sendList(lists[request.url ?? ''], response);
    const body = await readBody(request);
    const place = requests.length;
    const turn = typeof turns === 'function' ? turns(body, place) : turns[Math.min(place, turns.length - 1)]!;
    requests.push({ url: request.url ?? '', headers: request.headers, body, closed: once(response, 'close') });
    answer(protocol, turn, response);
    for (const resume of waiting.splice(0)) resume();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    answered: () => new Promise((resolve) => (waiting = [...waiting, resolve])),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function sendList(list: unknown, response: ServerResponse): void {
  response.writeHead(list === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(list ?? { error: { message: 'not found' } }));
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
}

function answer(protocol: Protocol, turn: EndpointTurn, response: ServerResponse): void {
  if (turn.status !== undefined) {
    response.writeHead(turn.status, { 'content-type': 'application/json', ...turn.headers });
    response.end(typeof turn.body === 'string' ? turn.body : JSON.stringify(turn.body ?? {}));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const frames = turn.garbage === undefined ? [...FRAMES[protocol](turn)] : [turn.garbage];
  // Bedrock's are bytes, a character each.
  response.write(frames.join(''), protocol === 'bedrock' ? 'latin1' : 'utf8', () => {
    if (turn.ending === 'break') response.destroy();
    else if (turn.ending !== 'hang') response.end();
  });
}

const FRAMES = {
  openai: openaiFrames,
  anthropic: anthropicFrames,
  responses: responsesFrames,
  google: googleFrames,
  bedrock: bedrockFrames,
} as const satisfies Record<Protocol, (turn: EndpointTurn) => Iterable<string>>;

function* openaiFrames(turn: EndpointTurn): Iterable<string> {
  const base = { id: 'chatcmpl-7', object: 'chat.completion.chunk', created: 1, model: 'test' };
  const frame = (extra: object) => `data: ${JSON.stringify({ ...base, ...extra })}\n\n`;
  const chunk = (delta: object, finish: string | null = null) => frame({ choices: [{ index: 0, delta, finish_reason: finish }] });
  yield chunk({ role: 'assistant', content: '' });
  for (const delta of thoughtDeltas(turn)) yield chunk(delta);
  for (const text of turn.text ?? []) yield chunk({ content: text });
  const isSigned = turn.reasoningIn === undefined && turn.signature;
  for (const [index, { id, name, pieces }] of (turn.calls ?? []).entries()) {
    const signed = index === 0 && isSigned && { extra_content: { google: { thought_signature: turn.signature } } };
    yield chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' }, ...signed }] });
    for (const piece of pieces) yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  if (turn.errorFrame) yield `data: ${JSON.stringify({ error: turn.errorFrame })}\n\n`;
  if (turn.ending) return;
  yield chunk({}, turn.finish ?? (turn.calls ? 'tool_calls' : 'stop'));
  const { input, output, cacheRead } = turn.usage ?? { input: 100, output: 10, cacheRead: 0 };
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
  yield frame({ choices: [], usage });
  yield 'data: [DONE]\n\n';
}

function* thoughtDeltas({ reasoning = [], reasoningIn = 'reasoning_content', signature }: EndpointTurn): Iterable<object> {
  for (const text of reasoning) {
    // Mistral's way.
    if (reasoningIn === 'content') yield { content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] };
    else if (reasoningIn !== 'reasoning_details') yield { [reasoningIn]: text };
    else yield { reasoning: text, reasoning_details: [{ type: 'reasoning.text', text, signature: null, format: 'own-v1', index: 0 }] };
  }
  if (reasoningIn !== 'reasoning_details' || signature === undefined) return;
  yield { reasoning_details: [{ type: 'reasoning.text', signature, format: 'own-v1', index: 0 }] };
  yield { reasoning_details: [{ type: 'reasoning.encrypted', data: `sealed ${signature}`, id: 'rs_1', format: 'own-v1', index: 1 }] };
}

function send(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

const STOP_REASON = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', content_filter: 'refusal' } as const;

function* anthropicFrames(turn: EndpointTurn): Iterable<string> {
  const { input, output, cacheRead } = turn.usage ?? { input: 100, output: 10, cacheRead: 0 };
  const usage = { input_tokens: input - cacheRead, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: cacheRead };
  const message = {
    id: 'msg_7',
    type: 'message',
    role: 'assistant',
    model: 'test',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  yield send('message_start', { message });
  const blocks = [
    ...(turn.reasoning
      ? [
          {
            start: { type: 'thinking', thinking: '', signature: '' },
            deltas: [
              ...turn.reasoning.map((thinking) => ({ type: 'thinking_delta', thinking })),
              ...(turn.signature ? [{ type: 'signature_delta', signature: turn.signature }] : []),
            ],
          },
        ]
      : []),
    ...(turn.text ? [{ start: { type: 'text', text: '' }, deltas: turn.text.map((text) => ({ type: 'text_delta', text })) }] : []),
    ...(turn.calls ?? []).map(({ id, name, pieces }) => ({
      start: { type: 'tool_use', id, name, input: {} },
      deltas: pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    })),
  ];
  for (const [index, { start, deltas }] of blocks.entries()) {
    yield send('content_block_start', { index, content_block: start });
    for (const delta of deltas) yield send('content_block_delta', { index, delta });
    if (turn.ending && index === blocks.length - 1) break;
    yield send('content_block_stop', { index });
  }
  if (turn.errorFrame) yield send('error', { error: turn.errorFrame });
  if (turn.ending) return;
  const reason = STOP_REASON[turn.finish ?? (turn.calls ? 'tool_calls' : 'stop')];
  yield send('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: output } });
  yield send('message_stop', {});
}

/** OpenAI's Responses API: an item for the reasoning, one for the text, one for each call. */
function* responsesFrames(turn: EndpointTurn): Iterable<string> {
  const response = { id: 'resp_7', object: 'response', created_at: 1, model: 'test', output: [] };
  const { input, output, cacheRead } = turn.usage ?? { input: 100, output: 10, cacheRead: 0 };
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  let sequence_number = 0;
  let output_index = 0;
  const numbered = (type: string, fields: object) =>
    `data: ${JSON.stringify({ type, sequence_number: sequence_number++, output_index, ...fields })}\n\n`;
  yield numbered('response.created', { response: { ...response, status: 'in_progress' } });
  if (turn.signature || turn.reasoning) {
    const item = { type: 'reasoning', id: 'rs_7', summary: [], encrypted_content: null };
    yield numbered('response.output_item.added', { item });
    for (const delta of turn.reasoning ?? [])
      yield numbered('response.reasoning_summary_text.delta', { item_id: 'rs_7', summary_index: 0, delta });
    yield numbered('response.output_item.done', { item: { ...item, encrypted_content: turn.signature ?? null } });
    output_index++;
  }
  if (turn.text) {
    const item = { type: 'message', id: 'msg_7', role: 'assistant', status: 'in_progress', content: [] };
    yield numbered('response.output_item.added', { item });
    for (const delta of turn.text) yield numbered('response.output_text.delta', { item_id: 'msg_7', content_index: 0, delta });
    yield numbered('response.output_item.done', { item: { ...item, status: 'completed' } });
    output_index++;
  }
  for (const { id, name, pieces } of turn.calls ?? []) {
    const item = { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: '', status: 'in_progress' };
    yield numbered('response.output_item.added', { item });
    for (const delta of pieces) yield numbered('response.function_call_arguments.delta', { item_id: item.id, delta });
    yield numbered('response.output_item.done', { item: { ...item, arguments: pieces.join(''), status: 'completed' } });
    output_index++;
  }
  if (turn.errorFrame) yield numbered('error', { error: turn.errorFrame });
  if (turn.ending) return;
  const reason = INCOMPLETE[turn.finish ?? 'stop'];
  if (reason === undefined) yield numbered('response.completed', { response: { ...response, status: 'completed', usage } });
  else {
    const incomplete = { ...response, status: 'incomplete', incomplete_details: { reason }, usage };
    yield numbered('response.incomplete', { response: incomplete });
  }
}

const INCOMPLETE = { stop: undefined, tool_calls: undefined, length: 'max_output_tokens', content_filter: 'content_filter' } as const;

/** Gemini's own API: arguments come as objects, and every chunk is a whole part. */
function* googleFrames(turn: EndpointTurn): Iterable<string> {
  const frame = (fields: object) => `data: ${JSON.stringify({ responseId: 'resp_7', modelVersion: 'test', ...fields })}\n\n`;
  const parts = (content: object, finishReason?: string) => ({
    candidates: [{ index: 0, content: { role: 'model', parts: [content] }, ...(finishReason && { finishReason }) }],
  });
  for (const text of turn.reasoning ?? []) yield frame(parts({ text, thought: true }));
  for (const text of turn.text ?? []) yield frame(parts({ text }));
  for (const [index, { id, name, pieces }] of (turn.calls ?? []).entries()) {
    const args = JSON.parse(pieces.join('') || '{}') as object;
    yield frame(parts({ functionCall: { id, name, args }, ...(index === 0 && turn.signature && { thoughtSignature: turn.signature }) }));
  }
  if (turn.errorFrame) yield frame({ error: { code: 503, message: turn.errorFrame.message, status: 'UNAVAILABLE' } });
  if (turn.ending) return;
  const { input, output, cacheRead } = turn.usage ?? { input: 100, output: 10, cacheRead: 0 };
  const usageMetadata = {
    promptTokenCount: input,
    candidatesTokenCount: output,
    cachedContentTokenCount: cacheRead,
    totalTokenCount: input + output,
  };
  yield frame({ ...parts({ text: '' }, FINISH[turn.finish ?? 'stop']), usageMetadata });
}

const FINISH = { stop: 'STOP', tool_calls: 'STOP', length: 'MAX_TOKENS', content_filter: 'SAFETY' } as const;
