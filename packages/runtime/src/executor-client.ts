import { lstatSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Alive, EffectReport, ExecuteLine, ExecuteRequest } from './executor-api.ts';
import { readLines } from './ndjson.ts';

/**
 * Speaks with one executor over its unix socket. Owns the connections; knows nothing of actions or of what an answer means.
 *
 * 1. The other end is hostile until shown otherwise: every answer is bounded in size, every request but the stream of an
 *    action in time, and a path that is not a socket is not connected to (the inside can put a link there).
 * 2. Nothing is retried here.
 */
export interface ExecutorClient {
  alive(options: { readonly signal: AbortSignal }): Promise<Alive>;
  /** Lines as they come; ends with the response. Throws `NotConnected` when not a byte was sent, else whatever broke. */
  execute(request: ExecuteRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ExecuteLine>;
  effect(key: string): Promise<EffectReport>;
  cancel(key: string): Promise<void>;
  lease(seconds: number): Promise<void>;
  listFiles(path: string, options: { readonly signal: AbortSignal }): Promise<readonly string[]>;
  readFile(path: string, options: { readonly signal: AbortSignal; readonly maxBytes: number }): Promise<Uint8Array>;
  writeFile(path: string, bytes: Uint8Array, options: { readonly signal: AbortSignal }): Promise<void>;
  /** A bare connection; it closes when the executor goes. */
  hold(): Socket;
  close(): void;
}

/** The executor could not be reached at all: the request was not sent. */
export class NotConnected extends Error {
  override name = 'NotConnected';
}

export const MAX_LINE = 16 * 1024 * 1024;
const MAX_STREAM = 256 * 1024 * 1024;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const DEADLINE_MS = 10_000;
const FILE_DEADLINE_MS = 120_000;

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
  readonly maxBytes?: number;
}

export function createExecutorClient(socketPath: string): ExecutorClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 4 });
  agent.createConnection = () => connectTo(socketPath);

  function open(call: Call, signal: AbortSignal | undefined): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      let isConnected = false;
      const type = typeof call.body === 'string' ? 'application/json' : 'application/octet-stream';
      const headers = call.body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(call.body) };
      const outgoing = httpRequest({ agent, method: call.method, path: call.path, headers, signal, host: 'executor' }, resolve);
      outgoing.on('socket', (socket) => (socket.connecting ? socket.once('connect', () => (isConnected = true)) : (isConnected = true)));
      outgoing.on('error', (error) => reject(isConnected || signal?.aborted ? error : new NotConnected(error.message, { cause: error })));
      outgoing.end(call.body);
    });
  }

  async function ask(call: Call): Promise<Buffer> {
    const deadline = AbortSignal.timeout(call.deadlineMs ?? DEADLINE_MS);
    const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline;
    const response = await open(call, signal);
    const isFine = (response.statusCode ?? 500) < 300;
    const body = await buffer(bounded(response, isFine ? (call.maxBytes ?? MAX_ANSWER_BYTES) : 64 * 1024));
    if (!isFine) throw new Error(failureText(body) || `the sandbox answered with status ${response.statusCode}`);
    return body;
  }

  async function* execute(request: ExecuteRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<ExecuteLine> {
    const response = await open({ method: 'POST', path: '/execute_action', body: JSON.stringify(request) }, signal);
    if (response.statusCode !== 200) {
      yield { type: 'refused', reason: failureText(await buffer(bounded(response, 64 * 1024))) || `status ${response.statusCode}` };
      return;
    }
    for await (const line of readLines(response, { maxLine: MAX_LINE, maxTotal: MAX_STREAM })) yield JSON.parse(line) as ExecuteLine;
  }

  const json = async (call: Call): Promise<unknown> => JSON.parse((await ask(call)).toString('utf8'));
  const effectPath = (key: string): string => `/effects/${encodeURIComponent(key)}`;
  const filePath = (path: string): string => `/files?path=${encodeURIComponent(path)}`;

  return {
    alive: async ({ signal }) => checkAlive(await json({ method: 'GET', path: '/alive', signal, deadlineMs: 5000, maxBytes: 4096 })),
    execute,
    effect: async (key) => (await json({ method: 'GET', path: effectPath(key), maxBytes: MAX_LINE })) as EffectReport,
    cancel: async (key) => void (await ask({ method: 'POST', path: `${effectPath(key)}/cancel` })),
    lease: async (seconds) => void (await ask({ method: 'POST', path: '/lease', body: JSON.stringify({ seconds }) })),
    listFiles: async (path, { signal }) =>
      checkNames(await json({ method: 'POST', path: '/list_files', body: JSON.stringify({ path }), signal, deadlineMs: 30_000 })),
    readFile: (path, { signal, maxBytes }) => ask({ method: 'GET', path: filePath(path), signal, maxBytes, deadlineMs: FILE_DEADLINE_MS }),
    writeFile: async (path, body, { signal }) =>
      void (await ask({ method: 'PUT', path: filePath(path), body, signal, deadlineMs: FILE_DEADLINE_MS })),
    hold: () => connectTo(socketPath),
    close: () => agent.destroy(),
  };
}

function connectTo(socketPath: string): Socket {
  if (lstatSync(socketPath, { throwIfNoEntry: false })?.isSocket() === true) return connect(socketPath);
  const nowhere = connect({ path: `${socketPath}.missing` }); // fails like a socket that is not there, and as asynchronously
  return nowhere;
}

async function* bounded(response: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
    yield chunk;
  }
}

/** The message of a failed answer: `{"error": …}`, `{"detail": …}` or plain text; one kilobyte at most. */
function failureText(body: Buffer): string {
  const text = body.toString('utf8');
  try {
    const { error, detail, message } = JSON.parse(text) as Record<string, unknown>;
    return String(error ?? detail ?? message ?? text).slice(0, 1024);
  } catch {
    return text.slice(0, 1024);
  }
}

function checkAlive(answer: unknown): Alive {
  const { incarnation, pid } = (answer ?? {}) as Partial<Alive>;
  if (typeof incarnation !== 'string') throw new Error('it answers, but not as an executor');
  return { status: 'ok', incarnation, pid: Number(pid) };
}

function checkNames(answer: unknown): readonly string[] {
  if (!Array.isArray(answer) || !answer.every((name) => typeof name === 'string')) throw new Error('the sandbox did not list the folder');
  return answer;
}
