import { setTimeout } from 'node:timers/promises';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import type { ScriptedModel } from '../model/scripted-model.ts';
import type { Answer, RequestOptions, ServerJson, Peer, Target, WebSocketOptions, ServerUnderTest, SocketIoOptions } from './target.ts';
import { Frames, type Frame } from './frames.ts';

export interface TargetOptions extends ServerUnderTest {
  readonly model: ScriptedModel;
}

export interface OpenTarget extends Target {
  /** Ends and removes what was made through it. */
  close(): Promise<void>;
}

/** One check's hold on the server. Without `shared` it shares nothing. */
export function openTarget({ model, ...server }: TargetOptions, shared?: Target['shared']): OpenTarget {
  const { url, key, timeoutMs } = server;
  const closers: (() => void | Promise<void>)[] = [];
  const keyHeader: Readonly<Record<string, string>> = key === undefined ? {} : { 'x-session-api-key': key };
  const defer = (close: () => void | Promise<void>): void => void closers.push(close);
  const held = (peer: Peer): Peer => (defer(peer.close), peer);

  async function ask(method: string, path: string, { body, headers = {} }: RequestOptions = {}): Promise<Answer> {
    const isRaw = typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array;
    const json = body === undefined || isRaw ? undefined : { 'content-type': 'application/json' };
    const response = await fetch(new URL(path, url), {
      method,
      headers: { ...json, ...keyHeader, ...headers },
      ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: (parsedJson(text) ?? {}) as ServerJson };
  }

  async function converse(body: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const answer = await ask('POST', '/api/conversations', { body });
    if (answer.status !== 200) throw new Error(`POST /api/conversations: ${answer.status} ${answer.text.slice(0, 300)}`);
    const id = String(answer.body.conversation_id);
    defer(async () => void (await ask('DELETE', `/api/conversations/${id}`)));
    return id;
  }

  const target: OpenTarget = {
    server,
    model: {
      script: (steps, aside) => model.script(steps, aside),
      requests: (words) => model.requests(words) as readonly ServerJson[],
      abandoned: (words) => model.abandoned(words),
      initializeArgs: { LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'conformance-key', LLM_BASE_URL: model.url },
    },
    ask,
    converse,
    connect: {
      socketIo: (options) => held(openSocketIo(url, { key, timeoutMs }, options)),
      webSocket: async (options) => held(await openWebSocket(url, { key, timeoutMs }, options)),
    },
    defer,
    eventually: (what, probe) => eventually(what, probe, timeoutMs),
    shared: shared ?? ((open) => open(target)),
    async close() {
      // What cannot be removed is no finding of the check.
      for (const closer of closers.toReversed()) await Promise.resolve(closer()).catch(() => {});
    },
  };
  return target;
}

async function eventually<T>(what: string, probe: () => T | Promise<T>, timeoutMs: number): Promise<NonNullable<T>> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const found = await probe();
    if (found) return found;
    await setTimeout(20);
  }
  throw new Error(`no ${what} within ${timeoutMs / 1000} s`);
}

interface PeerOptions {
  readonly key: string | undefined;
  readonly timeoutMs: number;
}

/** A client of Socket.IO that does not come back by itself. */
function openSocketIo(url: string, { key, timeoutMs }: PeerOptions, ask: SocketIoOptions = {}): Peer {
  const { query = {}, transports = ['websocket'], says = 'oh_user_action', origin } = ask;
  const { frames, volatile, ended, end } = receive(timeoutMs);
  const socket = io(url, {
    transports: [...transports],
    query: { ...(key !== undefined && { session_api_key: key }), ...query },
    forceNew: true,
    reconnection: false,
    ...(origin !== undefined && { extraHeaders: { origin } }),
  });
  socket.on('oh_event', (frame: unknown) => frames.push(asFrame(frame)));
  socket.on('tendon_volatile', (frame: unknown) => volatile.push(asFrame(frame)));
  socket.on('connect_error', ({ message }) => end(message));
  socket.on('disconnect', (reason) => end(reason));
  return { frames, volatile, ended, close: () => void socket.close(), send: (frame) => void socket.emit(says, frame) };
}

/** A plain WebSocket, open or refused: then `ended` has resolved. */
async function openWebSocket(url: string, { key, timeoutMs }: PeerOptions, ask: WebSocketOptions = {}): Promise<Peer> {
  const { path = '/ws', protocols = [], headers = {} } = ask;
  const { frames, volatile, ended, end } = receive(timeoutMs);
  const socket = new WebSocket(new URL(path, url.replace(/^http/, 'ws')), [...protocols], {
    headers: { ...(key !== undefined && { 'x-session-api-key': key }), ...headers },
    handshakeTimeout: timeoutMs,
  });
  socket.on('message', (data) => frames.push(asFrame(parsedJson(String(data)))));
  socket.on('close', (code, reason) => end(`${code} ${String(reason)}`));
  await new Promise<void>((open) => {
    socket.once('open', open);
    socket.on('error', ({ message }) => (end(message), open()));
  });
  const send = (frame: unknown): void => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  return { frames, volatile, ended, close: () => socket.terminate(), send };
}

function receive(timeoutMs: number) {
  const frames = new Frames(timeoutMs);
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  void ended.then((why) => frames.end(why));
  return { frames, volatile: new Frames(timeoutMs), ended, end };
}

function asFrame(value: unknown): Frame {
  return typeof value === 'object' && value !== null ? (value as Frame) : { raw: value };
}

/** Undefined for what is no JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
