import type { Duplex } from 'node:stream';
import type { PluginName, PluginStart, ServedPort } from '@tendon/protocol/executor-api';
import { askJson, RequestRefused, type ExecutorConnection } from '../transport/executor-connection.ts';

/** What the programs of one sandbox serve, and the way to it. What the other end says is checked and bounded. */
export interface SandboxPorts {
  list(options: { readonly signal: AbortSignal }): Promise<readonly ServedPort[]>;
  /** The list now, and whenever it has changed; ends with the sandbox or the signal. Never throws. */
  follow(options: { readonly signal: AbortSignal }): AsyncIterable<readonly ServedPort[]>;
  /** A connection to that port inside; `signal` ends the attempt only. Rejects with `NotServed` when nothing listens there. */
  connect(port: number, options: { readonly signal: AbortSignal }): Promise<Duplex>;
  /**
   * A connection whose first line is a `ProcessRequest`; from then on it is the input and output of that program, beside the agent's
   * shell, which ends with it. `signal` ends the attempt only.
   */
  openProcess(options: { readonly signal: AbortSignal }): Promise<Duplex>;
  /** A person's own shell: lines of `ShellInput` go in, lines of `ShellOutput` come out. It ends with the connection. `signal` ends the attempt only. */
  openShell(options: { readonly signal: AbortSignal }): Promise<Duplex>;
  /** The same with the agent's own, while a person has taken it over: it goes on when the connection ends. */
  openAgentShell(options: { readonly signal: AbortSignal }): Promise<Duplex>;
  /** Brings a plugin up, which may take a while; never rejects. */
  startPlugin(name: PluginName): Promise<PluginStart>;
}

/** Nothing of the agent's listens on that port. */
export class NotServed extends Error {
  override name = 'NotServed';
}

const MAX_PORTS = 64;
const MAX_LINE = 64 * 1024;
const MAX_TEXT = 1024;
/** More than a kernel has to come up. */
const START_PLUGIN_MS = 90_000;
const NOT_FOUND = 404;

export function createSandboxPorts(connection: Pick<ExecutorConnection, 'ask' | 'lines' | 'tunnel'>): SandboxPorts {
  return {
    list: async ({ signal }) => checkPorts(await askJson(connection, { method: 'GET', path: '/ports', signal, maxBytes: MAX_LINE })),
    async *follow({ signal }) {
      try {
        for await (const line of connection.lines({ method: 'GET', path: '/ports/follow' }, signal)) yield checkPorts(JSON.parse(line));
      } catch {
        // The sandbox has gone, or speaks nonsense: then there is nothing to report.
      }
    },
    async connect(port, { signal }) {
      try {
        return await connection.tunnel(`/tunnel/${port}`, signal);
      } catch (error) {
        throw error instanceof RequestRefused && error.status === NOT_FOUND ? new NotServed(error.message, { cause: error }) : error;
      }
    },
    openProcess: ({ signal }) => connection.tunnel('/process', signal),
    openShell: ({ signal }) => connection.tunnel('/shell', signal),
    openAgentShell: ({ signal }) => connection.tunnel('/agent-shell', signal),
    async startPlugin(name) {
      const call = { method: 'POST', path: '/plugins/start', body: JSON.stringify({ name }), deadlineMs: START_PLUGIN_MS } as const;
      return askJson(connection, call).then(checkStart, (error: unknown) => ({ ok: false, reason: String(error) }));
    },
  };
}

function checkPorts(answer: unknown): readonly ServedPort[] {
  const { ports } = (answer ?? {}) as { readonly ports?: unknown };
  if (!Array.isArray(ports)) return [];
  return ports.slice(0, MAX_PORTS).flatMap((each: Partial<ServedPort> | null) => {
    if (!isPort(each?.port)) return [];
    return [{ port: each.port, program: typeof each.program === 'string' ? each.program.slice(0, MAX_TEXT) : '' }];
  });
}

function checkStart(answer: unknown): PluginStart {
  const { ok, page, reason } = (answer ?? {}) as {
    readonly ok?: unknown;
    readonly page?: { port?: unknown; path?: unknown };
    reason?: unknown;
  };
  if (ok !== true) return { ok: false, reason: String(reason).slice(0, MAX_TEXT) };
  if (!isPort(page?.port) || typeof page.path !== 'string') return { ok: true };
  const { port, path } = page;
  return /^\/[\x21-\x7e]{0,1023}$/.test(path) ? { ok: true, page: { port, path } } : { ok: true };
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) < 65_536;
}
