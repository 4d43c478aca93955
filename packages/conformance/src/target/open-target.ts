import { setTimeout } from 'node:timers/promises';
import type { ScriptedModel } from '../model/scripted-model.ts';
import { openSocketIo, openWebSocket } from './open-peer.ts';
import { parsedJson } from './parsed-json.ts';
import type { Answer, Ask, Foreign, Peer, Target } from './target.ts';

export interface TargetOptions {
  readonly url: string;
  readonly key?: string;
  readonly model: ScriptedModel;
  readonly patienceMs: number;
  readonly silenceSeconds: number;
}

/** One check's hold on the server; `close` ends and removes what the check made. */
export function openTarget({ url, key, model, patienceMs, silenceSeconds }: TargetOptions): Target & { close(): Promise<void> } {
  const closers: (() => void | Promise<void>)[] = [];
  const keyHeader: Readonly<Record<string, string>> = key === undefined ? {} : { 'x-session-api-key': key };
  const defer = (close: () => void | Promise<void>): void => void closers.push(close);
  const held = (peer: Peer): Peer => (defer(peer.close), peer);

  async function ask(method: string, path: string, { body, headers = {} }: Ask = {}): Promise<Answer> {
    const isRaw = typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array;
    const json = body === undefined || isRaw ? undefined : { 'content-type': 'application/json' };
    const response = await fetch(new URL(path, url), {
      method,
      headers: { ...json, ...keyHeader, ...headers },
      ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(patienceMs),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: (parsedJson(text) ?? {}) as Foreign };
  }

  async function converse(body: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const answer = await ask('POST', '/api/conversations', { body });
    if (answer.status !== 200) throw new Error(`POST /api/conversations: ${answer.status} ${answer.text.slice(0, 300)}`);
    const id = String(answer.body.conversation_id);
    defer(async () => void (await ask('DELETE', `/api/conversations/${id}`)));
    return id;
  }

  return {
    url,
    key,
    patienceMs,
    silenceSeconds,
    ask,
    converse,
    socketIo: (options) => held(openSocketIo(url, { key, patienceMs }, options)),
    webSocket: async (options) => held(await openWebSocket(url, { key, patienceMs }, options)),
    defer,
    script: (steps, aside) => model.script(steps, aside),
    modelRequests: (words) => model.requests(words) as readonly Foreign[],
    modelAbandoned: (words) => model.abandoned(words),
    eventually: (what, probe) => eventually(what, probe, patienceMs),
    modelArguments: { LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'conformance-key', LLM_BASE_URL: model.url },
    async close() {
      // What cannot be removed is no finding of the check.
      for (const closer of closers.toReversed()) await Promise.resolve(closer()).catch(() => {});
    },
  };
}

async function eventually<T>(what: string, probe: () => T | Promise<T>, patienceMs: number): Promise<NonNullable<T>> {
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    const found = await probe();
    if (found) return found;
    await setTimeout(20);
  }
  throw new Error(`no ${what} within ${patienceMs / 1000} s`);
}
