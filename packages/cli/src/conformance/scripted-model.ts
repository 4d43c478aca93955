import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { randomBytes } from 'node:crypto';

/** One answer of the model. */
export type ModelStep =
  | { readonly text: string }
  | { readonly call: string; readonly args: Readonly<Record<string, unknown>>; readonly text?: string }
  /** The endpoint answers with this status instead, and with the provider's machine word for why. */
  | { readonly status: number; readonly code?: string };

export interface ScriptedModel {
  /** Base URL of an OpenAI-compatible endpoint, with `/v1`. */
  readonly url: string;
  /** Words which, when a user's message has them, make the model answer with these steps, one a request; then it says it is done. */
  script(steps: readonly ModelStep[]): string;
  /** Requests that were made for the script of these words. */
  requests(words: string): readonly unknown[];
  close(): Promise<void>;
}

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

interface ChatRequest {
  readonly messages: readonly Message[];
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
}

const MARK = /conformance-[0-9a-f]{12}/g;
const DONE: ModelStep = { text: 'Done.' };

/** A model that is no model: it plays what a check has written down. It listens on loopback, so the server must be on this machine. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const scripts = new Map<string, { readonly steps: readonly ModelStep[]; readonly requests: unknown[] }>();
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    if (request.method === 'GET') return json(response, 200, { object: 'list', data: [{ id: 'gpt-4o', object: 'model' }] });
    if (!path.endsWith('/chat/completions')) return json(response, 404, { error: { message: 'there is only /chat/completions' } });
    const body = JSON.parse(await text(request)) as ChatRequest;
    const step = nextStep(body);
    if ('status' in step)
      return json(response, step.status, {
        error: { message: `scripted status ${step.status}`, type: 'scripted', code: step.code ?? null },
      });
    if (body.stream === true) stream(response, step);
    else json(response, 200, completion(step));
  }

  /** A request without tools is a title's or a summary's: it gets words and uses up nothing. */
  function nextStep(body: ChatRequest): ModelStep {
    const asked = body.messages.findLast((message) => message.role === 'user' && marksOf(message).length > 0);
    const script = scripts.get(marksOf(asked).at(-1) ?? '');
    if (!body.tools?.length || !script) return { text: 'A scripted title' };
    script.requests.push(body);
    return script.steps[script.requests.length - 1] ?? DONE;
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    script(steps) {
      const mark = `conformance-${randomBytes(6).toString('hex')}`;
      scripts.set(mark, { steps, requests: [] });
      return `Please do ${mark}`;
    },
    requests: (words) => scripts.get(marksIn(words).at(-1) ?? '')?.requests ?? [],
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function marksIn(words: string): readonly string[] {
  return words.match(MARK) ?? [];
}

function marksOf(message: Message | undefined): readonly string[] {
  return message ? marksIn(JSON.stringify(message.content ?? '')) : [];
}

function completion(step: Exclude<ModelStep, { status: number }>): object {
  return {
    ...HEAD,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...deltaOf(step) }, finish_reason: finishOf(step) }],
    usage: USAGE,
  };
}

function stream(response: ServerResponse, step: Exclude<ModelStep, { status: number }>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (choices: readonly object[], more: object = {}): void =>
    void response.write(`data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices, ...more })}\n\n`);
  const { tool_calls, ...words } = deltaOf(step);
  const calls = tool_calls?.map((call, index) => ({ index, ...call }));
  chunk([{ index: 0, delta: { role: 'assistant', ...words, ...(calls && { tool_calls: calls }) }, finish_reason: null }]);
  chunk([{ index: 0, delta: {}, finish_reason: finishOf(step) }], { usage: USAGE });
  response.end('data: [DONE]\n\n');
}

const HEAD = { id: 'chatcmpl-conformance', created: 1, model: 'gpt-4o' };
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function finishOf(step: ModelStep): string {
  return 'call' in step ? 'tool_calls' : 'stop';
}

function deltaOf(step: Exclude<ModelStep, { status: number }>): {
  content?: string;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
} {
  if (!('call' in step)) return { content: step.text };
  const call = { name: step.call, arguments: JSON.stringify(step.args) };
  return {
    ...(step.text !== undefined && { content: step.text }),
    tool_calls: [{ id: `call_${randomBytes(8).toString('hex')}`, type: 'function', function: call }],
  };
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
