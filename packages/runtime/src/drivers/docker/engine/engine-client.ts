import { request as httpRequest, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { EngineError, EngineUnreachable } from './engine-error.ts';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

export interface EngineCall {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  /** With its query, e.g. `/containers/json?all=1`. */
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

/** A client of the Docker API of one engine over its unix socket; it does not know what a call means. */
export interface EngineClient {
  readonly socketPath: string;
  /** The parsed answer; `undefined` for an empty one. Rejects with `EngineError` or `EngineUnreachable`. */
  json<T>(call: EngineCall): Promise<T>;
  bytes(call: EngineCall): Promise<Buffer>;
  /** The parsed lines of a streamed answer (a pull); without a deadline of its own. */
  lines<T>(call: EngineCall): AsyncIterable<T>;
}

const DEADLINE_MS = 30_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_LINE = 1024 * 1024;

export function createEngineClient(socketPath: string): EngineClient {
  async function open(call: EngineCall, signal: AbortSignal | undefined): Promise<IncomingMessage> {
    const response = await send(socketPath, call, signal);
    const status = response.statusCode ?? 500;
    if (status < 400) return response;
    const text = (await read(response)).toString('utf8');
    throw new EngineError(status, messageIn(text));
  }

  async function bytes(call: EngineCall): Promise<Buffer> {
    const deadline = AbortSignal.timeout(call.deadlineMs ?? DEADLINE_MS);
    return read(await open(call, call.signal ? AbortSignal.any([call.signal, deadline]) : deadline));
  }

  return {
    socketPath,
    bytes,
    async json<T>(call: EngineCall): Promise<T> {
      const text = (await bytes(call)).toString('utf8');
      return (text.trim() === '' ? undefined : JSON.parse(text)) as T;
    },
    async *lines<T>(call: EngineCall): AsyncGenerator<T> {
      let rest = '';
      for await (const chunk of (await open(call, call.signal)).setEncoding('utf8') as AsyncIterable<string>) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > MAX_LINE) throw new EngineError(500, 'the engine sent a line without an end');
        for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as T;
      }
      if (rest.trim() !== '') yield JSON.parse(rest) as T;
    },
  };
}

function send(socketPath: string, { method, path, body }: EngineCall, signal: AbortSignal | undefined): Promise<IncomingMessage> {
  const isBytes = body instanceof Uint8Array;
  const content = body === undefined ? undefined : isBytes ? body : JSON.stringify(body);
  const type = isBytes ? 'application/x-tar' : 'application/json';
  const headers = content === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(content) };
  return new Promise((resolve, reject) => {
    // Without keep-alive: calls are rare, and an engine that was started anew has no memory of old connections.
    const outgoing = httpRequest({ socketPath, method, path, headers, signal, agent: false, host: 'engine' }, resolve);
    outgoing.on('error', (error: NodeJS.ErrnoException) =>
      reject(signal?.aborted ? signal.reason : new EngineUnreachable(socketPath, error)),
    );
    outgoing.end(content);
  });
}

async function read(response: IncomingMessage): Promise<Buffer> {
  let total = 0;
  return buffer(
    (async function* () {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        total += chunk.length;
        if (total > MAX_ANSWER_BYTES) throw new EngineError(500, `the engine answered with more than ${MAX_ANSWER_BYTES} bytes`);
        yield chunk;
      }
    })(),
  );
}

/** Docker's `{"message": …}`, podman's `{"cause": …, "message": …}`, or plain text. */
function messageIn(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message ?? text).trim();
  } catch {
    return text.trim();
  }
}

export type FoundEngine = { readonly socketPath: string } | { readonly problem: string };

/** Where the engine's unix socket is: at `host` (`unix:///path` or a path), or the first usual place where there is one. */
export function findEngine(host: string | undefined, runtimeDir = process.env.XDG_RUNTIME_DIR): FoundEngine {
  if (host === undefined || host === '') {
    const usual = usualSockets(runtimeDir);
    return { socketPath: usual.find((path) => existsSync(path)) ?? DOCKER };
  }
  const path = host.replace(/^unix:\/\//, '');
  if (path.startsWith('/')) return { socketPath: path };
  return { problem: `the container engine must be on this machine, at a unix socket, and not at ${host}` };
}

/** Every one that is there: the one at `host`, if that is on this machine, those at the usual places, and those that are known. */
export function engineSockets(
  host: string | undefined,
  known: readonly string[],
  runtimeDir = process.env.XDG_RUNTIME_DIR,
): readonly string[] {
  const given = findEngine(host, runtimeDir);
  const all = new Set([...('socketPath' in given ? [given.socketPath] : []), ...usualSockets(runtimeDir), ...known]);
  // Two names of one engine are one.
  return [...new Map([...all].filter((path) => existsSync(path)).map((path) => [realpathSync(path), path])).values()];
}

const DOCKER = '/var/run/docker.sock';

/** Of Docker and Podman, those of this user first. */
function usualSockets(runtimeDir: string | undefined): readonly string[] {
  const own = runtimeDir === undefined ? [] : [join(runtimeDir, 'docker.sock'), join(runtimeDir, 'podman/podman.sock')];
  return [...own, DOCKER, '/run/podman/podman.sock'];
}
