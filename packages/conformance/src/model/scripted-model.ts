import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { randomBytes } from 'node:crypto';
import { chunksOf, completionOf, isModelAnswer, type ModelStep } from './model-step.ts';

export interface ScriptedModel {
  /** Base URL of an OpenAI-compatible endpoint, with `/v1`. */
  readonly url: string;
  /**
   * AnswerText which, when a user's message has them, make the model answer with these steps, one a request; then it says it is done.
   * A request without tools is a title's, a summary's or a draft's, and so is one that ends with `[Summary request]`: it gets `aside`, and
   * uses up nothing.
   */
  script(steps: readonly ModelStep[], aside?: ModelStep): string;
  /** Requests that were made for the script of these words. */
  requests(words: string): readonly unknown[];
  /** How many of them were given up before they were answered. */
  abandoned(words: string): number;
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

interface Script {
  readonly steps: readonly ModelStep[];
  readonly aside: ModelStep;
  readonly requests: unknown[];
  abandoned: number;
}

const MARK = /conformance-[0-9a-f]{12}/g;
const DONE: ModelStep = { text: 'Done.' };
const TITLE: ModelStep = { text: 'A scripted title' };

/** A model that is no model: it plays what a check has written down. It listens on loopback, so the server must be on this machine. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const scripts = new Map<string, Script>();
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    if (request.method === 'GET') return json(response, 200, { object: 'list', data: [{ id: 'gpt-4o', object: 'model' }] });
    if (!path.endsWith('/chat/completions')) return json(response, 404, { error: { message: 'there is only /chat/completions' } });
    const body = JSON.parse(await text(request)) as ChatRequest;
    const script = scriptOf(body);
    response.once('close', () => {
      if (script && !response.writableFinished) script.abandoned += 1;
    });
    const step = nextStep(body, script);
    await step.after;
    play(step, response, body.stream === true);
  }

  function scriptOf({ messages }: ChatRequest): Script | undefined {
    const asked = messages.findLast((message) => message.role === 'user' && marksOf(message).length > 0);
    return scripts.get(marksOf(asked).at(-1) ?? '');
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    script(steps, aside = TITLE) {
      const mark = `conformance-${randomBytes(6).toString('hex')}`;
      scripts.set(mark, { steps, aside, requests: [], abandoned: 0 });
      return `Please do ${mark}`;
    },
    requests: (words) => scripts.get(marksIn(words).at(-1) ?? '')?.requests ?? [],
    abandoned: (words) => scripts.get(marksIn(words).at(-1) ?? '')?.abandoned ?? 0,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function nextStep(body: ChatRequest, script: Script | undefined): ModelStep {
  if (!body.tools?.length || isSummaryRequest(body) || !script) return script?.aside ?? TITLE;
  script.requests.push(body);
  return script.steps[script.requests.length - 1] ?? DONE;
}

function isSummaryRequest({ messages }: ChatRequest): boolean {
  return JSON.stringify(messages.at(-1)?.content ?? '').includes('[Summary request]');
}

function play(step: ModelStep, response: ServerResponse, isStream: boolean): void {
  if ('status' in step) {
    const error = { message: step.says ?? `scripted status ${step.status}`, type: 'scripted', code: step.code ?? null };
    return json(response, step.status, { error }, step.headers);
  }
  if (isModelAnswer(step) && !isStream) return json(response, 200, completionOf(step));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (isModelAnswer(step)) return void response.end(chunksOf(step).join(''));
  response.write(step.bytes, () => response.destroy());
}

function marksIn(words: string): readonly string[] {
  return words.match(MARK) ?? [];
}

function marksOf(message: Message | undefined): readonly string[] {
  return message ? marksIn(JSON.stringify(message.content ?? '')) : [];
}

function json(response: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
