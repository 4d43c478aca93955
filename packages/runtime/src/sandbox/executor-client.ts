import type { Socket } from 'node:net';
import type { Runtime } from '@tendon/core';
import type {
  Alive,
  EffectReport,
  ExecuteLine,
  ExecuteRequest,
  ProtocolRange,
  SuspendAnswer,
  LinesToEdit,
} from '@tendon/protocol/executor-api';
import { checkCheckpoints, checkCheckpointFile, checkComparison } from './check-checkpoints.ts';
import type { HostQuestion, WatchLine } from '../executor-host-api.ts';
import {
  askJson,
  connectTo,
  MAX_LINE,
  openConnection,
  RequestRefused,
  SandboxGone,
  type ExecutorAddress,
  type ExecutorConnection,
} from '../transport/executor-connection.ts';
import { createSandboxPorts, type SandboxPorts } from './sandbox-ports.ts';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { watchFolder } from '../processes/launch.ts';

/** Speaks with one executor. Knows nothing of actions or of what an answer means; nothing is retried here. */
export interface ExecutorClient extends EffectsClient, LifeClient {
  readonly files: Runtime['files'];
  readonly ports: SandboxPorts;
  /** The workspace as it was at this checkpoint (0: as it is), as a folder of the private state; some of what is not in it. */
  copyWorkspace(
    request: { readonly name: string; readonly checkpoint: number },
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly left: readonly string[] }>;
  /** The connection that a line of the watch has announced. */
  takeCall(id: string, options: { readonly signal: AbortSignal }): Promise<Socket>;
  /** A connection that leaves the sandbox; waits for one, and rejects after a while with the status 204 where there is none. */
  takeEgress(options: { readonly signal: AbortSignal }): Promise<Socket>;
  /** The text says why the connection is refused; without one the policy decides. */
  answerQuestion(id: string, refusal: string | undefined): Promise<void>;
}

interface EffectsClient {
  /** Lines as they come; ends with the response. Throws `NotConnected` when not a byte was sent, else whatever broke. */
  execute(
    request: ExecuteRequest,
    options: { readonly signal: AbortSignal; readonly traceparent?: string | undefined },
  ): AsyncIterable<ExecuteLine>;
  effect(key: string, digest: string): Promise<EffectReport>;
  cancel(key: string, digest: string): Promise<void>;
  /** A piece of an action's output from there on, empty at its end; nothing where none is stored. */
  output(key: string, offset: number, options: { readonly signal: AbortSignal }): Promise<Uint8Array | undefined>;
}

interface LifeClient {
  alive(options: { readonly signal: AbortSignal }): Promise<Alive>;
  lease(seconds: number): Promise<void>;
  /** Asks it to store its state for the next one; when it has, it ends by itself. */
  hibernate(options: { readonly withKernel: boolean }): Promise<SuspendAnswer>;
  /** Asks it to freeze what the agent started; the next action resumes that. */
  suspend(): Promise<SuspendAnswer>;
  /** Ends whatever the agent has started, in the foreground and behind it. */
  endWork(): Promise<void>;
  /**
   * Holds a connection; resolves when it is gone (which it is when the executor goes), with the reason if the other end reported
   * that the sandbox is no more. Its lines before that are passed on. Never rejects.
   */
  hold(options: HoldOptions): Promise<string | undefined>;
  close(): void;
}

export interface HoldOptions {
  readonly signal: AbortSignal;
  readonly onLine: (line: WatchLine) => void;
}

const HIBERNATE_DEADLINE_MS = 60_000;
const COPY_DEADLINE_MS = 10 * 60_000;
const MAX_REFUSAL = 1024;

export function createExecutorClient(address: ExecutorAddress): ExecutorClient {
  const connection = openConnection(address);
  return {
    ...effectsClient(connection),
    ...lifeClient(connection, address),
    files: createExecutorFiles(connection),
    ports: createSandboxPorts(connection),
    async copyWorkspace(request, { signal }) {
      const body = JSON.stringify(request);
      return checkCopy(await askJson(connection, { method: 'POST', path: '/copy_workspace', body, signal, deadlineMs: COPY_DEADLINE_MS }));
    },
    takeCall: (id, { signal }) => connection.tunnel(`/calls/${id}`, signal),
    takeEgress: ({ signal }) => connection.tunnel('/egress', signal),
    async answerQuestion(id, refusal) {
      await connection.ask({
        method: 'POST',
        path: `/questions/${id}`,
        body: JSON.stringify({ refusal: refusal?.slice(0, MAX_REFUSAL) ?? null }),
      });
    },
  };
}

function effectsClient(connection: ExecutorConnection): EffectsClient {
  const pathOf = (key: string): string => `/effects/${encodeURIComponent(key)}`;
  return {
    async *execute(request, { signal, traceparent }) {
      try {
        const body = JSON.stringify(request);
        const lines = connection.lines({ method: 'POST', path: '/execute_action', body, traceparent }, signal);
        for await (const line of lines) yield JSON.parse(line) as ExecuteLine;
      } catch (error) {
        if (!(error instanceof RequestRefused)) throw error;
        yield { type: 'refused', reason: error.message };
      }
    },
    effect: async (key, digest) =>
      (await askJson(connection, { method: 'GET', path: `${pathOf(key)}?digest=${digest}`, maxBytes: MAX_LINE })) as EffectReport,
    cancel: async (key, digest) => void (await connection.ask({ method: 'POST', path: `${pathOf(key)}/cancel?digest=${digest}` })),
    output: (key, offset, { signal }) =>
      connection
        .ask({ method: 'GET', path: `${pathOf(key)}/output?from=${offset}`, signal, deadlineMs: 30_000 })
        .catch((error: unknown) => {
          if (error instanceof RequestRefused && error.status === 404) return undefined;
          throw error;
        }),
  };
}

function lifeClient(connection: ExecutorConnection, address: ExecutorAddress): LifeClient {
  return {
    alive: async ({ signal }) =>
      checkAlive(await askJson(connection, { method: 'GET', path: '/alive', signal, deadlineMs: 5000, maxBytes: 4096 })),
    lease: async (seconds) => void (await connection.ask({ method: 'POST', path: '/lease', body: JSON.stringify({ seconds }) })),
    async hibernate({ withKernel }) {
      const body = JSON.stringify({ with_kernel: withKernel });
      return checkAnswer(await askJson(connection, { method: 'POST', path: '/sleep', body, deadlineMs: HIBERNATE_DEADLINE_MS }));
    },
    suspend: async () => checkAnswer(await askJson(connection, { method: 'POST', path: '/sleep', body: '{"in_place":true}' })),
    endWork: async () => void (await connection.ask({ method: 'POST', path: '/end_work' })),
    async hold({ signal, onLine }) {
      if ('socketPath' in address) return untilClosed(connectTo(address.socketPath).unref(), signal);
      try {
        for await (const text of connection.lines({ method: 'GET', path: '/watch?questions=1' }, signal)) {
          const line = readWatchLine(text);
          if (line && 'ended' in line) return line.ended;
          if (line) onLine(line);
        }
      } catch (error) {
        if (error instanceof SandboxGone) return error.message;
      }
      return undefined;
    },
    close: connection.close,
  };
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

const CALL_ID = /^[0-9a-f]{32}$/;

function readQuestion(given: unknown): HostQuestion | undefined {
  const { id, host, port } = (given ?? {}) as { readonly [name in keyof HostQuestion]?: unknown };
  if (typeof id !== 'string' || !CALL_ID.test(id) || typeof host !== 'string' || host.length > 253 || typeof port !== 'number')
    return undefined;
  return Number.isInteger(port) && port > 0 && port < 65_536 ? { id, host, port } : undefined;
}

/** Total; what is no such line is left out. */
function readWatchLine(text: string): WatchLine | undefined {
  const { ended, call, question, watching } = (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof ended === 'string') return { ended: ended.slice(0, 1024) };
  if (typeof call === 'string' && CALL_ID.test(call)) return { call };
  const asked = readQuestion(question);
  if (asked) return { question: asked };
  return watching === true ? { watching } : undefined;
}

function checkAlive(answer: unknown): Alive {
  const { incarnation, pid, protocol = [1, 1] } = (answer ?? {}) as { readonly [name in keyof Alive]?: unknown };
  if (typeof incarnation !== 'string' || !isRange(protocol)) throw new Error('it answers, but not as an executor');
  return { status: 'ok', incarnation, pid: Number(pid), protocol };
}

function isRange(value: unknown): value is ProtocolRange {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger) && value[0] <= value[1];
}

function checkAnswer(answer: unknown): SuspendAnswer {
  const fields = (answer ?? {}) as { readonly slept?: unknown; readonly reason?: unknown };
  return fields.slept === true ? { slept: true } : { slept: false, reason: String(fields.reason).slice(0, 200) };
}

const DEADLINE_MS = 120_000;
const LIST_DEADLINE_MS = 30_000;

/** Files of one sandbox, by its executor, whose answers are checked. */
function createExecutorFiles(connection: Pick<ExecutorConnection, 'ask'>): Runtime['files'] {
  const pathOf = (path: string): string => `/files?path=${encodeURIComponent(path)}`;
  return {
    async list(path, { signal }) {
      const body = JSON.stringify({ path });
      return checkNames(await askJson(connection, { method: 'POST', path: '/list_files', body, signal, deadlineMs: LIST_DEADLINE_MS }));
    },
    read: (path, { signal, maxBytes }) => connection.ask({ method: 'GET', path: pathOf(path), signal, maxBytes, deadlineMs: DEADLINE_MS }),
    async write(path, body, { signal }) {
      await connection.ask({ method: 'PUT', path: pathOf(path), body, signal, deadlineMs: DEADLINE_MS });
    },
    async checkpoints({ signal }) {
      return checkCheckpoints(await askJson(connection, { method: 'GET', path: '/checkpoints', signal, deadlineMs: DEADLINE_MS }));
    },
    async compareCheckpoint(checkpoint, { signal, until, lines }) {
      const body = JSON.stringify({ checkpoint, ...(until !== undefined && { until }), ...(lines && { lines }) });
      const call = { method: 'POST', path: '/compare_checkpoint', body, signal, deadlineMs: DEADLINE_MS } as const;
      return checkComparison(await askJson(connection, call));
    },
    async checkpointFile(checkpoint, path, { signal, maxBytes }) {
      const body = JSON.stringify({ checkpoint, path, max_bytes: maxBytes });
      const call = {
        method: 'POST',
        path: '/checkpoint_file',
        body,
        signal,
        deadlineMs: DEADLINE_MS,
        maxBytes: 2 * maxBytes + 1024,
      } as const;
      return checkCheckpointFile(await askJson(connection, call));
    },
    async linesToEdit(path, range, { signal }) {
      const body = JSON.stringify({ path, ...range });
      return checkLines(await askJson(connection, { method: 'POST', path: '/lines_to_edit', body, signal }));
    },
  };
}

function checkNames(answer: unknown): readonly string[] {
  if (!Array.isArray(answer) || !answer.every((name) => typeof name === 'string')) throw new Error('the sandbox did not list the folder');
  return answer;
}

function checkCopy(answer: unknown): { readonly left: readonly string[] } {
  const { left } = (answer ?? {}) as { readonly left?: unknown };
  return { left: Array.isArray(left) ? left.slice(0, 20).map((path) => String(path).slice(0, 4096)) : [] };
}

function checkLines(answer: unknown): LinesToEdit {
  const { state, text, first, last, version, reason } = (answer ?? {}) as Record<string, unknown>;
  if (state === 'none') return { state };
  if (state === 'refused' && typeof reason === 'string') return { state, reason: reason.slice(0, 4096) };
  if (state === 'lines' && typeof text === 'string' && typeof first === 'number' && typeof last === 'number' && typeof version === 'string')
    return { state, text, first, last, version };
  throw new Error('the sandbox did not show the lines');
}

const RECHECK_MS = 25;
/** Right after something changed in the folder. */
const SOON_MS = 2;

export interface AwaitOptions {
  /** Where it will listen, if that is a unix socket. */
  readonly socketPath: string | undefined;
  readonly isAlive: () => boolean;
  readonly signal: AbortSignal;
}

/**
 * The first answer of an executor that is just starting. Wakes when its socket appears in the folder; checks now and then too,
 * for the moment between the socket's birth and its first listen. Rejects when `isAlive` says the process is gone, or the
 * host of the sandbox does.
 */
export async function awaitExecutor(client: ExecutorClient, { socketPath, isAlive, signal }: AwaitOptions): Promise<Alive> {
  let wake = (): void => {};
  let hasChanged = false;
  const stopWatching = socketPath === undefined ? () => {} : watchFolder(dirname(socketPath), () => wake());
  try {
    for (;;) {
      const changed = new Promise<boolean>((resolve) => (wake = () => resolve(true)));
      // A refused connection costs many times what a look for the file does.
      if (socketPath === undefined || existsSync(socketPath)) {
        try {
          return await client.alive({ signal });
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof SandboxGone) throw error;
        }
      }
      if (!isAlive()) throw new Error('its process ended');
      hasChanged = await Promise.race([changed, delay(hasChanged ? SOON_MS : RECHECK_MS, false, { signal })]);
    }
  } finally {
    stopWatching();
  }
}
