import { NotConnected, openConnection, RequestRefused, Unavailable, type Call } from '../../transport/executor-connection.ts';
import { EXECUTOR_API, type HostedNetwork, type HostedSandbox, type HostInfo, type StartRequest } from '../../executor-host-api.ts';
import type { NetworkReach } from '../../egress/network-policy.ts';
import type { RefusedHost } from '../../egress/refused-hosts.ts';

/** The client of one executor host. It validates every answer, and its errors name the host. */
export interface HostClient {
  /** Rejects with `HostProblem` when the host cannot be used. */
  info(): Promise<HostInfo>;
  start(
    incarnation: string,
    request: StartRequest,
    options: { readonly signal: AbortSignal; readonly ownerEpoch: number },
  ): Promise<HostedSandbox>;
  setNetwork(incarnation: string, network: NetworkReach): Promise<void>;
  refusedHosts(incarnation: string): Promise<readonly RefusedHost[]>;
  /** Resolves when the sandbox is removed completely. */
  end(incarnation: string, ownerEpoch: number): Promise<void>;
  forget(conversationId: string, options: { readonly workspace: boolean; readonly ownerEpoch: number }): Promise<void>;
  drain(isDraining: boolean): Promise<void>;
}

/** Why a host cannot be used, and what to do about it. */
export class HostProblem extends Error {
  override name = 'HostProblem';
  readonly fix: string;
  readonly isAway: boolean;

  constructor(reason: string, fix: string, away = false) {
    super(reason);
    this.fix = fix;
    this.isAway = away;
  }
}

/** Of a network, a machine or a name that is not there now. A connection that is reset may speak another protocol. */
const AWAY = /^(?:ECONNREFUSED|EHOSTDOWN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/;

/** Whether the host may answer later without a change of the settings. */
export function isAway(problem: unknown): boolean {
  return problem instanceof HostProblem ? problem.isAway : problem instanceof Unavailable;
}

const INFO_MS = 5000;
const START_MS = 90_000;
const END_MS = 30_000;
const MAX_REFUSED = 50;
const STRENGTHS: readonly unknown[] = ['container', 'os-sandbox', 'none'];
const MODES: readonly unknown[] = ['none', 'allowlist', 'full'];

export function createHostClient(url: string, headers: () => Readonly<Record<string, string>>): HostClient {
  const connection = openConnection({ url, headers });
  const sandboxPath = (incarnation: string): string => `/sandboxes/${encodeURIComponent(incarnation)}`;

  async function ask(call: Call): Promise<unknown> {
    let body: string;
    try {
      body = (await connection.ask(call)).toString('utf8');
    } catch (error) {
      throw problemOf(error, url);
    }
    try {
      return body === '' ? undefined : JSON.parse(body);
    } catch {
      throw somethingElse(url);
    }
  }

  return {
    info: async () => checkInfo(await ask({ method: 'GET', path: '/server_info', deadlineMs: INFO_MS }), url),
    async start(incarnation, request, options) {
      const call = {
        method: 'PUT',
        path: sandboxPath(incarnation),
        body: JSON.stringify(request),
        deadlineMs: START_MS,
        ...options,
      } as const;
      const { workspace, conversation_id, is_new } = ((await ask(call)) ?? {}) as Partial<HostedSandbox>;
      if (typeof workspace !== 'string' || !workspace.startsWith('/')) throw somethingElse(url);
      return { incarnation, conversation_id: String(conversation_id), workspace, is_new: is_new === true };
    },
    async setNetwork(incarnation, { mode, allow }) {
      await ask({ method: 'PUT', path: `${sandboxPath(incarnation)}/network`, body: JSON.stringify({ mode, allow }) });
    },
    async refusedHosts(incarnation) {
      const { refused } = ((await ask({ method: 'GET', path: `${sandboxPath(incarnation)}/network` })) ?? {}) as Partial<HostedNetwork>;
      return (Array.isArray(refused) ? refused : []).slice(-MAX_REFUSED).map(({ host, port, reason, count }) => ({
        host: String(host).slice(0, 253),
        port: Number(port),
        reason: String(reason).slice(0, 1024),
        count: Number(count),
      }));
    },
    end: async (incarnation, ownerEpoch) =>
      void (await ask({ method: 'DELETE', path: sandboxPath(incarnation), deadlineMs: END_MS, ownerEpoch })),
    async forget(conversationId, { workspace, ownerEpoch }) {
      const path = `/conversations/${encodeURIComponent(conversationId)}?workspace=${workspace}`;
      await ask({ method: 'DELETE', path, deadlineMs: END_MS, ownerEpoch });
    },
    drain: async (isDraining) => void (await ask({ method: 'PUT', path: '/drain', body: JSON.stringify({ draining: isDraining }) })),
  };
}

function codeOf(error: unknown): string {
  return (((error as Error)?.cause ?? error) as NodeJS.ErrnoException | undefined)?.code ?? '';
}

function problemOf(error: unknown, url: string): unknown {
  const code = codeOf(error);
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL/.test(code)) {
    return new HostProblem(
      `the certificate of the executor host at ${url} is not trusted (${code})`,
      'Give it one that is, or name its authority in NODE_EXTRA_CA_CERTS.',
    );
  }
  if (error instanceof NotConnected || (error as Error)?.name === 'TimeoutError') {
    return new HostProblem(
      `nothing answers at ${url} (${code || (error as Error).message})`,
      'Start `tendon executor` there, or correct SANDBOX_REMOTE_RUNTIME_API_URL.',
      AWAY.test(code) || (error as Error).name === 'TimeoutError',
    );
  }
  if (error instanceof RequestRefused && (error.status === 401 || error.status === 403)) {
    return new HostProblem(
      `the executor host at ${url} refuses the key (${error.message})`,
      'Set SANDBOX_API_KEY to the key that it was started with.',
    );
  }
  if (error instanceof RequestRefused && error.status === 404) return somethingElse(url);
  return error;
}

function somethingElse(url: string): HostProblem {
  return new HostProblem(
    `what answers at ${url} is not an executor host`,
    'Correct SANDBOX_REMOTE_RUNTIME_API_URL: it is the address of `tendon executor`, with its path where a proxy gives it one.',
  );
}

function checkInfo(answer: unknown, url: string): HostInfo {
  const { executor_api, version, sandbox, capacity } = (answer ?? {}) as Partial<HostInfo> & { readonly capacity?: unknown };
  if (typeof executor_api !== 'number' || typeof sandbox !== 'object' || sandbox === null) throw somethingElse(url);
  if (executor_api !== EXECUTOR_API) {
    throw new HostProblem(
      `the executor host at ${url} is Tendon ${String(version)} and speaks version ${executor_api}, this server speaks version ${EXECUTOR_API}`,
      'Install the same version of Tendon on both.',
    );
  }
  const { driver, strength, description, limits, network } = sandbox;
  if (!STRENGTHS.includes(strength) || !MODES.includes(network?.mode)) throw somethingElse(url);
  const texts = Array.isArray(limits) ? limits.map(String) : [];
  return {
    executor_api,
    version: String(version),
    capacity: checkCapacity(capacity),
    sandbox: {
      driver: String(driver),
      strength,
      description: String(description),
      limits: texts,
      sleeps: sandbox.sleeps === 'ended' || sandbox.sleeps === 'in-place' ? sandbox.sleeps : null,
      network: { mode: network.mode, is_policed: network.is_policed === true },
      mounts_read_only: sandbox.mounts_read_only === true,
    },
  };
}

function checkCapacity(answer: unknown): HostInfo['capacity'] {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { draining, ...numbers } = answer as Readonly<Record<string, unknown>>;
  const number = (name: string): number => (typeof numbers[name] === 'number' && numbers[name] >= 0 ? numbers[name] : 0);
  return {
    draining: draining === true,
    sandboxes: number('sandboxes'),
    max_sandboxes: number('max_sandboxes'),
    memory_bytes: number('memory_bytes'),
    free_memory_bytes: number('free_memory_bytes'),
    load: number('load'),
  };
}
