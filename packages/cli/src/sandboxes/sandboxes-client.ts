import { Reclaimed, SandboxList, type SandboxInfo } from '@tendon/protocol';
import { askForBody, composeEngine, findServer, listTitled, systemClock, type Config, type FoundServer } from '@tendon/server/headless';

/** The way to the sandboxes of a home. What fails is an Error whose message can be shown. */
export interface SandboxesClient extends AsyncDisposable {
  list(): Promise<readonly SandboxInfo[]>;
  stop(conversationId: string): Promise<void>;
  reclaim(all: boolean): Promise<{ readonly kept: number; readonly reaped: number }>;
}

const DEADLINE_MS = 60_000;

/** Through the server that runs on this home, else over its store and the processes of this machine. */
export async function openSandboxesClient(config: Config): Promise<SandboxesClient> {
  const server = await findServer(config);
  return server ? throughServer(server) : overStore(config);
}

async function overStore(config: Config): Promise<SandboxesClient> {
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

function throughServer(server: FoundServer): SandboxesClient {
  const ask = (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> =>
    askForBody(server, method, path, { body, deadlineMs: DEADLINE_MS });
  return {
    list: async () => SandboxList.parse(await ask('GET', '/api/sandboxes')).sandboxes,
    stop: async (id) => void (await ask('POST', `/api/sandboxes/${encodeURIComponent(id)}/stop`, {})),
    reclaim: async (all) => Reclaimed.parse(await ask('POST', '/api/sandboxes/reclaim', { all })),
    [Symbol.asyncDispose]: async () => {},
  };
}
