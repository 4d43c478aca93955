import type { Socket } from 'node:net';
import type {
  Alive,
  EffectReport,
  ExecuteLine,
  ExecuteRequest,
  LineRange,
  LinesToEdit,
  ProtocolRange,
  SleepAnswer,
} from '@tendon/protocol/executor-api';
import { connectTo, MAX_LINE, openDoor, Refused, SandboxGone, type Call, type ExecutorAddress } from '../transport/executor-connection.ts';
import type { WatchLine } from '../executor-host-api.ts';
import { createSandboxPorts, type SandboxPorts } from './sandbox-ports.ts';

/** Speaks with one executor. Knows nothing of actions or of what an answer means; nothing is retried here. */
export interface ExecutorClient {
  alive(options: { readonly signal: AbortSignal }): Promise<Alive>;
  /** Lines as they come; ends with the response. Throws `NotConnected` when not a byte was sent, else whatever broke. */
  execute(request: ExecuteRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ExecuteLine>;
  effect(key: string, digest: string): Promise<EffectReport>;
  cancel(key: string, digest: string): Promise<void>;
  /** A piece of an action's output from there on, empty at its end; nothing where none is kept. */
  output(key: string, offset: number, options: { readonly signal: AbortSignal }): Promise<Uint8Array | undefined>;
  lease(seconds: number): Promise<void>;
  /** Asks it to end so that the next one goes on where it was; when it slept, it ends by itself. */
  sleep(options: { readonly withKernel: boolean }): Promise<SleepAnswer>;
  /** Asks it to let what the agent started stand still; the next action wakes it. */
  standStill(): Promise<SleepAnswer>;
  /** Ends whatever the agent has started, in the foreground and behind it. */
  endWork(): Promise<void>;
  listFiles(path: string, options: { readonly signal: AbortSignal }): Promise<readonly string[]>;
  readFile(path: string, options: { readonly signal: AbortSignal; readonly maxBytes: number }): Promise<Uint8Array>;
  writeFile(path: string, bytes: Uint8Array, options: { readonly signal: AbortSignal }): Promise<void>;
  linesToEdit(path: string, range: LineRange, options: { readonly signal: AbortSignal }): Promise<LinesToEdit>;
  readonly ports: SandboxPorts;
  /**
   * Holds a connection; resolves when it is gone (which it is when the executor goes), with the reason if the other end said
   * that the sandbox is no more. What it says before that is passed on. Never rejects.
   */
  hold(options: HoldOptions): Promise<string | undefined>;
  /** The connection that a line of the watch has told of. */
  takeCall(id: string, options: { readonly signal: AbortSignal }): Promise<Socket>;
  close(): void;
}

export interface HoldOptions {
  readonly signal: AbortSignal;
  readonly onLine: (line: WatchLine) => void;
}

const SLEEP_DEADLINE_MS = 60_000;
const FILE_DEADLINE_MS = 120_000;

export function createExecutorClient(address: ExecutorAddress): ExecutorClient {
  const door = openDoor(address);

  async function* execute(request: ExecuteRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<ExecuteLine> {
    try {
      const body = JSON.stringify(request);
      for await (const line of door.lines({ method: 'POST', path: '/execute_action', body }, signal)) yield JSON.parse(line) as ExecuteLine;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      yield { type: 'refused', reason: error.message };
    }
  }

  async function hold({ signal, onLine }: HoldOptions): Promise<string | undefined> {
    if ('socketPath' in address) return untilClosed(connectTo(address.socketPath).unref(), signal);
    try {
      for await (const text of door.lines({ method: 'GET', path: '/watch' }, signal)) {
        const line = readWatchLine(text);
        if (line && 'ended' in line) return line.ended;
        if (line) onLine(line);
      }
    } catch (error) {
      if (error instanceof SandboxGone) return error.message;
    }
    return undefined;
  }

  const json = async (call: Call): Promise<unknown> => JSON.parse((await door.ask(call)).toString('utf8'));
  const effectPath = (key: string): string => `/effects/${encodeURIComponent(key)}`;
  const filePath = (path: string): string => `/files?path=${encodeURIComponent(path)}`;

  return {
    alive: async ({ signal }) => checkAlive(await json({ method: 'GET', path: '/alive', signal, deadlineMs: 5000, maxBytes: 4096 })),
    execute,
    effect: async (key, digest) =>
      (await json({ method: 'GET', path: `${effectPath(key)}?digest=${digest}`, maxBytes: MAX_LINE })) as EffectReport,
    cancel: async (key, digest) => void (await door.ask({ method: 'POST', path: `${effectPath(key)}/cancel?digest=${digest}` })),
    output: (key, offset, { signal }) =>
      door.ask({ method: 'GET', path: `${effectPath(key)}/output?from=${offset}`, signal, deadlineMs: 30_000 }).catch((error: unknown) => {
        if (error instanceof Refused && error.status === 404) return undefined;
        throw error;
      }),
    lease: async (seconds) => void (await door.ask({ method: 'POST', path: '/lease', body: JSON.stringify({ seconds }) })),
    sleep: async ({ withKernel }) =>
      checkSlept(
        await json({ method: 'POST', path: '/sleep', body: JSON.stringify({ with_kernel: withKernel }), deadlineMs: SLEEP_DEADLINE_MS }),
      ),
    standStill: async () => checkSlept(await json({ method: 'POST', path: '/sleep', body: '{"in_place":true}' })),
    endWork: async () => void (await door.ask({ method: 'POST', path: '/end_work' })),
    listFiles: async (path, { signal }) =>
      checkNames(await json({ method: 'POST', path: '/list_files', body: JSON.stringify({ path }), signal, deadlineMs: 30_000 })),
    readFile: (path, { signal, maxBytes }) =>
      door.ask({ method: 'GET', path: filePath(path), signal, maxBytes, deadlineMs: FILE_DEADLINE_MS }),
    writeFile: async (path, body, { signal }) =>
      void (await door.ask({ method: 'PUT', path: filePath(path), body, signal, deadlineMs: FILE_DEADLINE_MS })),
    linesToEdit: async (path, range, { signal }) =>
      checkLines(await json({ method: 'POST', path: '/lines_to_edit', body: JSON.stringify({ path, ...range }), signal })),
    ports: createSandboxPorts(door),
    hold,
    takeCall: (id, { signal }) => door.tunnel(`/calls/${id}`, signal),
    close: door.close,
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

/** Total; what is no such line is left out. */
function readWatchLine(text: string): WatchLine | undefined {
  const { ended, call, watching } = (JSON.parse(text) ?? {}) as { readonly ended?: unknown; call?: unknown; watching?: unknown };
  if (typeof ended === 'string') return { ended: ended.slice(0, 1024) };
  if (typeof call === 'string' && /^[0-9a-f]{32}$/.test(call)) return { call };
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

function checkLines(answer: unknown): LinesToEdit {
  const { state, text, first, last, version, reason } = (answer ?? {}) as Record<string, unknown>;
  if (state === 'none') return { state };
  if (state === 'refused' && typeof reason === 'string') return { state, reason: reason.slice(0, 4096) };
  if (state === 'lines' && typeof text === 'string' && typeof first === 'number' && typeof last === 'number' && typeof version === 'string')
    return { state, text, first, last, version };
  throw new Error('the sandbox did not show the lines');
}

function checkSlept(answer: unknown): SleepAnswer {
  const { slept, reason } = (answer ?? {}) as { readonly slept?: unknown; readonly reason?: unknown };
  return slept === true ? { slept } : { slept: false, reason: String(reason).slice(0, 200) };
}

function checkNames(answer: unknown): readonly string[] {
  if (!Array.isArray(answer) || !answer.every((name) => typeof name === 'string')) throw new Error('the sandbox did not list the folder');
  return answer;
}
