import { lstatSync } from 'node:fs';
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Alive, EffectReport, ExecuteLine, ExecuteRequest } from './executor-api.ts';
import { readLines } from './ndjson.ts';

/**
 * Speaks with one executor over its unix socket or below a URL. Owns the connections; knows nothing of actions or of what an
 * answer means.
 *
 * 1. The other end is hostile until shown otherwise: every answer is bounded in size, every request but the stream of an
 *    action in time, and a path that is not a socket is not connected to (the inside can put a link there).
 * 2. A network can fall silent without a word: behind a URL a stream that is still for too long counts as broken.
 * 3. Nothing is retried here.
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
  /**
   * Holds a connection; resolves when it is gone (which it is when the executor goes), with the reason if the other end said
   * that the sandbox is no more. Never rejects.
   */
  hold(options: { readonly signal: AbortSignal }): Promise<string | undefined>;
  close(): void;
}

export type ExecutorAddress =
  | { readonly socketPath: string }
  /** Without a final slash; routes are appended. `headers` is asked for each request. */
  | { readonly url: string; readonly headers: () => Readonly<Record<string, string>> };

/** The executor could not be reached at all: the request was not sent. */
export class NotConnected extends Error {
  override name = 'NotConnected';
}

/** Who stands before the sandbox says that it is no more. */
export class SandboxGone extends Error {
  override name = 'SandboxGone';
}

export const MAX_LINE = 16 * 1024 * 1024;
const MAX_STREAM = 256 * 1024 * 1024;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const DEADLINE_MS = 10_000;
const FILE_DEADLINE_MS = 120_000;

/** Both ends send an empty line every 15 seconds where a stream has nothing to say. */
const STILL_MS = 60_000;
const GONE_STATUS = 410;

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
  readonly maxBytes?: number;
}

export function createExecutorClient(address: ExecutorAddress): ExecutorClient {
  const door = openDoor(address);

  function open(call: Call, signal: AbortSignal | undefined): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      let isConnected = false;
      const type = typeof call.body === 'string' ? 'application/json' : 'application/octet-stream';
      const body: Record<string, string | number> =
        call.body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(call.body) };
      const outgoing = door.request(call, body, signal).on('response', resolve);
      outgoing.on('socket', (socket) => {
        if (!socket.connecting) isConnected = true;
        else socket.once(door.connected, () => (isConnected = true));
      });
      outgoing.on('error', (error) => reject(isConnected || signal?.aborted ? error : new NotConnected(error.message, { cause: error })));
      outgoing.end(call.body);
    });
  }

  async function ask(call: Call): Promise<Buffer> {
    const deadline = AbortSignal.timeout(call.deadlineMs ?? DEADLINE_MS);
    const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline;
    const response = await open(call, signal);
    if (response.statusCode !== undefined && response.statusCode >= 300) throw await failureOf(response);
    return buffer(bounded(response, call.maxBytes ?? MAX_ANSWER_BYTES));
  }

  async function* stream(call: Call, signal: AbortSignal): AsyncGenerator<string> {
    const response = await open(call, signal);
    if (response.statusCode !== 200) throw await failureOf(response);
    for await (const line of readLines(response, { maxLine: MAX_LINE, maxTotal: MAX_STREAM })) if (line !== '') yield line;
  }

  async function* execute(request: ExecuteRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<ExecuteLine> {
    try {
      const body = JSON.stringify(request);
      for await (const line of stream({ method: 'POST', path: '/execute_action', body }, signal)) yield JSON.parse(line) as ExecuteLine;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      yield { type: 'refused', reason: error.message };
    }
  }

  async function hold({ signal }: { readonly signal: AbortSignal }): Promise<string | undefined> {
    if ('socketPath' in address) return untilClosed(connectTo(address.socketPath).unref(), signal);
    try {
      for await (const line of stream({ method: 'GET', path: '/watch' }, signal)) return endIn(line);
    } catch (error) {
      if (error instanceof SandboxGone) return error.message;
    }
    return undefined;
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
    hold,
    close: door.close,
  };
}

/** Answered, and the answer is no: nothing was begun. */
class Refused extends Error {
  override name = 'Refused';
}

/** A status of 500 and more can come from a proxy between, which knows nothing of what was begun. */
async function failureOf(response: IncomingMessage): Promise<Error> {
  const { statusCode = 500 } = response;
  const text = failureText(await buffer(bounded(response, 64 * 1024))) || `the sandbox answered with status ${statusCode}`;
  if (statusCode === GONE_STATUS) return new SandboxGone(text);
  return statusCode < 500 ? new Refused(text) : new Error(text);
}

interface Door {
  /** The event of a socket that can be written to. */
  readonly connected: 'connect' | 'secureConnect';
  request(call: Call, headers: Readonly<Record<string, string | number>>, signal: AbortSignal | undefined): ClientRequest;
  close(): void;
}

const AGENT = { keepAlive: true, maxSockets: 64, maxFreeSockets: 4 } as const;

function openDoor(address: ExecutorAddress): Door {
  if ('socketPath' in address) {
    const agent = new Agent(AGENT);
    agent.createConnection = () => connectTo(address.socketPath);
    return {
      connected: 'connect',
      request: ({ method, path }, headers, signal) => httpRequest({ agent, method, path, headers, signal, host: 'executor' }),
      close: () => agent.destroy(),
    };
  }
  const isTls = address.url.startsWith('https:');
  const agent = isTls ? new TlsAgent(AGENT) : new Agent(AGENT);
  const request = isTls ? httpsRequest : httpRequest;
  return {
    connected: isTls ? 'secureConnect' : 'connect',
    request({ method, path }, headers, signal) {
      const options = { agent, method, headers: { ...headers, ...address.headers() }, signal, timeout: STILL_MS };
      const outgoing = request(address.url + path, options);
      return outgoing.on('timeout', () => outgoing.destroy(new Error('the connection fell silent')));
    },
    close: () => agent.destroy(),
  };
}

function connectTo(socketPath: string): Socket {
  if (lstatSync(socketPath, { throwIfNoEntry: false })?.isSocket() === true) return connect(socketPath);
  const nowhere = connect({ path: `${socketPath}.missing` }); // fails like a socket that is not there, and as asynchronously
  return nowhere;
}

function untilClosed(socket: Socket, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const end = (): void => void socket.destroy();
    signal.addEventListener('abort', end, { once: true });
    socket.on('error', () => {});
    socket.resume();
    socket.once('close', () => {
      signal.removeEventListener('abort', end);
      resolve(undefined);
    });
  });
}

/** `{"ended": …}` says that the sandbox is no more, and why. */
function endIn(line: string): string | undefined {
  const { ended } = (JSON.parse(line) ?? {}) as { readonly ended?: unknown };
  return typeof ended === 'string' ? ended.slice(0, 1024) : undefined;
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
