import { ModelList, ModelProbeInfo, type ModelInfo } from '@tendon/protocol';
import { askForBody, composeEngine, findServer, systemClock, type Config, type FoundServer } from '@tendon/server/headless';

/** Access to what is known of a home's models. Its methods reject with an Error whose message can be shown. */
export interface ModelsClient extends AsyncDisposable {
  list(): Promise<readonly ModelInfo[]>;
  /** Default: the model of conversations that chose none. */
  probe(model: string | undefined): Promise<ModelProbeInfo>;
}

/** Three questions of a minute each, and a list of models. */
const DEADLINE_MS = 240_000;

/** Works through the server that runs on this home, which must learn the results; otherwise on its store. */
export async function openModelsClient(config: Config): Promise<ModelsClient> {
  const server = await findServer(config);
  return server ? throughServer(server) : overStore(config);
}

async function overStore(config: Config): Promise<ModelsClient> {
  const { knownModels, close } = await composeEngine(config, { clock: systemClock });
  return {
    list: () => knownModels.list(),
    probe: (model) => knownModels.probe(model),
    [Symbol.asyncDispose]: close,
  };
}

function throughServer(server: FoundServer): ModelsClient {
  const ask = (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> =>
    askForBody(server, method, path, { body, deadlineMs: DEADLINE_MS });
  return {
    list: async () => ModelList.parse(await ask('GET', '/api/models')).models,
    probe: async (model) => ModelProbeInfo.parse(await ask('POST', '/api/models/probe', { model })),
    [Symbol.asyncDispose]: async () => {},
  };
}
