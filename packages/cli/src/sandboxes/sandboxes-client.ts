import { Reclaimed, SandboxList, type SandboxInfo } from '@tendon/protocol';
import {
  askForBody,
  composeEngine,
  findServer,
  listTitled,
  openHosts,
  systemClock,
  type Config,
  type FoundServer,
  type SandboxHostInfo,
} from '@tendon/server/headless';

/** Access to the sandboxes of a home. Its methods reject with an Error whose message can be shown. */
export interface SandboxesClient extends AsyncDisposable {
  list(): Promise<readonly SandboxInfo[]>;
  stop(conversationId: string): Promise<void>;
  reclaim(all: boolean): Promise<{ readonly kept: number; readonly reaped: number }>;
  /** The hosts of the configuration, called from this process. */
  hosts(): Promise<readonly SandboxHostInfo[]>;
  drain(host: string, isDraining: boolean): Promise<void>;
}

type StoreClient = Omit<SandboxesClient, 'hosts' | 'drain'>;

const DEADLINE_MS = 60_000;

/** Works through the server that runs on this home, otherwise on its store and the processes of this machine. */
export async function openSandboxesClient(config: Config): Promise<SandboxesClient> {
  const server = await findServer(config);
  let opened: Promise<StoreClient> | undefined;
  // A host is called without opening the store.
  const store = (): Promise<StoreClient> => (opened ??= server ? Promise.resolve(throughServer(server)) : overStore(config));
  const remote = openHosts(config);
  return {
    list: async () => (await store()).list(),
    stop: async (id) => (await store()).stop(id),
    reclaim: async (all) => (await store()).reclaim(all),
    hosts: async () => (await remote?.hosts?.()) ?? [],
    async drain(host, isDraining) {
      if (!remote?.drain) throw new Error('The sandboxes of this server are on its own machine: RUNTIME is not remote.');
      await remote.drain(host, isDraining);
    },
    [Symbol.asyncDispose]: async () => (await opened)?.[Symbol.asyncDispose](),
  };
}

async function overStore(config: Config): Promise<StoreClient> {
  const engine = await composeEngine(config, { clock: systemClock });
  return {
    list: () => listTitled(engine),
    async stop(id) {
      if (!(await engine.conversations.stop(id))) throw new Error(`There is no conversation ${id}.`);
    },
    reclaim: (all) => engine.runtimes.reclaim({ all }),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

function throughServer(server: FoundServer): StoreClient {
  const ask = (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> =>
    askForBody(server, method, path, { body, deadlineMs: DEADLINE_MS });
  return {
    list: async () => SandboxList.parse(await ask('GET', '/api/sandboxes')).sandboxes,
    stop: async (id) => void (await ask('POST', `/api/sandboxes/${encodeURIComponent(id)}/stop`, {})),
    reclaim: async (all) => Reclaimed.parse(await ask('POST', '/api/sandboxes/reclaim', { all })),
    [Symbol.asyncDispose]: async () => {},
  };
}
