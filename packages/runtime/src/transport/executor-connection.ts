import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { StorageError } from '@tendon/core';
import { withDeadline } from '@tendon/protocol/async';
import { FENCED_STATUS, OWNER_EPOCH_HEADER } from '@tendon/protocol/executor-api';
import { readLines } from '@tendon/protocol/node';

export type ExecutorAddress = ExecutorPlace & {
  /** As whose every request comes, asked for each; 0 where the conversation cannot have another owner, which is usual. */
  readonly ownerEpoch?: () => number;
};

type ExecutorPlace =
  | { readonly socketPath: string }
  /** Without a final slash; routes are appended. `headers` is asked for each request. */
  | { readonly url: string; readonly headers: () => Readonly<Record<string, string>> };

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
  readonly maxBytes?: number;
  /** The header of this name. */
  readonly traceparent?: string | undefined;
  /** Instead of that of the address. */
  readonly ownerEpoch?: number;
}

/**
 * HTTP to one address, a unix socket or a URL. Owns the connections; knows nothing of the requests.
 *
 * ECO1  The other end counts as hostile: every answer is bounded in size, every request but a stream in time, and a path that is not
 *       a socket is refused (programs inside can put a link there).
 * ECO2  A network can fail without notice: behind a URL a connection that is silent for too long counts as broken.
 * ECO3  Nothing is retried here.
 */
export interface ExecutorConnection {
  /**
   * The whole body of an answer that is a yes. Rejects with one of the errors below, with `StorageError('fenced')` when another server has
   * taken the conversation over, or with whatever broke.
   */
  ask(call: Call): Promise<Buffer>;
  /** Lines of an answer that is a yes, as they come, without empty ones. */
  lines(call: Call, signal: AbortSignal): AsyncGenerator<string>;
  /** The connection itself, once the other end agrees to it; `signal` ends the attempt only. Rejects as `ask` does. */
  tunnel(path: string, signal: AbortSignal): Promise<Socket>;
  close(): void;
}

/** The other end could not be reached at all: the request was not sent. */
export class NotConnected extends Error {
  override name = 'NotConnected';
}

/** Who stands before the sandbox says that it is no more. */
export class SandboxGone extends Error {
  override name = 'SandboxGone';
}

/** Answered, and the answer is no: nothing was begun. */
export class RequestRefused extends Error {
  override name = 'RequestRefused';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** What answers is not ready, or has no answer of what stands behind it. */
export class Unavailable extends Error {
  override name = 'Unavailable';
}

const UNAVAILABLE: ReadonlySet<number> = new Set([502, 503, 504]);
export const MAX_LINE = 16 * 1024 * 1024;
const MAX_STREAM = 256 * 1024 * 1024;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const DEADLINE_MS = 10_000;
/** Both ends send an empty line every 15 seconds where a stream has nothing to say. */
const STILL_MS = 60_000;
const GONE_STATUS = 410;
/** Of Linux; Node does not name it. */
const O_PATH = 0x20_0000;

export function openConnection(address: ExecutorAddress): ExecutorConnection {
  const wire = openWire(address);
  const epoch = () => epochHeader(address.ownerEpoch?.() ?? 0);

  function open(call: Call, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      let isConnected = false;
      const type = typeof call.body === 'string' ? 'application/json' : 'application/octet-stream';
      const body: Record<string, string | number> =
        call.body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(call.body) };
      const headers = {
        ...body,
        ...(call.traceparent !== undefined && { traceparent: call.traceparent }),
        ...(call.ownerEpoch === undefined ? epoch() : epochHeader(call.ownerEpoch)),
      };
      const outgoing = wire.request(call, headers, signal).on('response', resolve);
      outgoing.on('socket', (socket) => {
        if (!socket.connecting) isConnected = true;
        else socket.once(wire.connected, () => (isConnected = true));
      });
      outgoing.on('error', (error) => reject(isConnected || signal.aborted ? error : new NotConnected(error.message, { cause: error })));
      outgoing.end(call.body);
    });
  }

  return {
    ask(call) {
      const answer = async (signal: AbortSignal): Promise<Buffer> => {
        const response = await open(call, signal);
        if ((response.statusCode ?? 500) >= 300) throw await failureOf(response);
        return buffer(bounded(response, call.maxBytes ?? MAX_ANSWER_BYTES));
      };
      return withDeadline(call.deadlineMs ?? DEADLINE_MS, answer, call.signal);
    },
    async *lines(call, signal) {
      const response = await open(call, signal);
      if (response.statusCode !== 200) throw await failureOf(response);
      for await (const line of readLines(response, { maxLine: MAX_LINE, maxTotal: MAX_STREAM })) if (line !== '') yield line;
    },
    tunnel: (path, signal) =>
      new Promise((resolve, reject) => {
        const outgoing = wire.request({ method: 'GET', path }, { connection: 'Upgrade', upgrade: 'tcp', ...epoch() }, signal);
        outgoing.on('upgrade', (_response, socket: Socket, head) => {
          socket.setTimeout(0); // what passes through may be silent for as long as it likes
          socket.unshift(head);
          resolve(socket);
        });
        outgoing.on('response', (response) => void failureOf(response).then(reject, reject));
        outgoing.on('error', reject).end();
      }),
    close: wire.close,
  };
}

/** The answer's body as JSON, unchecked. */
export async function askJson(connection: Pick<ExecutorConnection, 'ask'>, call: Call): Promise<unknown> {
  return JSON.parse((await connection.ask(call)).toString('utf8'));
}

function epochHeader(epoch: number): Readonly<Record<string, string>> {
  return epoch > 0 ? { [OWNER_EPOCH_HEADER]: String(epoch) } : {};
}

/** Another server has taken the conversation over: this one does nothing more for it. */
export function isFenced(error: unknown): error is StorageError {
  return error instanceof StorageError && error.code === 'fenced';
}

/** A status of 500 and more can come from a proxy between, which knows nothing of what was begun. */
async function failureOf(response: IncomingMessage): Promise<Error> {
  const { statusCode = 500 } = response;
  const text = failureText(await buffer(bounded(response, 64 * 1024))) || `the sandbox answered with status ${statusCode}`;
  if (statusCode === GONE_STATUS) return new SandboxGone(text);
  if (statusCode === FENCED_STATUS) return new StorageError('fenced', text);
  if (UNAVAILABLE.has(statusCode)) return new Unavailable(text);
  return statusCode < 500 ? new RequestRefused(text, statusCode) : new Error(text);
}

interface Wire {
  /** The event of a socket that can be written to. */
  readonly connected: 'connect' | 'secureConnect';
  request(call: Call, headers: Readonly<Record<string, string | number>>, signal: AbortSignal): ClientRequest;
  close(): void;
}

const AGENT = { keepAlive: true, maxSockets: 64, maxFreeSockets: 4 } as const;

function openWire(address: ExecutorAddress): Wire {
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
  // TLS takes 20 ms to load: only where it is spoken.
  const { Agent: WireAgent, request } = isTls ? process.getBuiltinModule('node:https') : { Agent, request: httpRequest };
  const agent = new WireAgent(AGENT);
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

/** What was looked at is what is connected to, whatever the path leads to by then: the inside can put a link in its place. */
export function connectTo(socketPath: string): Socket {
  const held = holdSocket(socketPath);
  if (held === undefined) return connect({ path: '/dev/null/missing' }); // nobody can make it; fails as asynchronously as any
  try {
    return connect(held.path); // the system connects within this call
  } finally {
    held.release();
  }
}

/** Opened as a path only, without following a link; `undefined` for anything but a socket. */
function holdSocket(path: string): { readonly path: string; release(): void } | undefined {
  if (process.platform !== 'linux') {
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true ? { path, release: () => undefined } : undefined;
  }
  let fd: number;
  try {
    fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
  if (fstatSync(fd).isSocket()) return { path: `/proc/self/fd/${fd}`, release: () => closeSync(fd) };
  closeSync(fd);
  return undefined;
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
