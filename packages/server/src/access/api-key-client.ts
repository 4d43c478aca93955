import { CreatedKey, KeyList, type CreateKey, type KeyInfo } from '@tendon/protocol';
import { askServer, findServer, type FoundServer } from '../platform/server-address.ts';
import type { Config } from '../platform/config/config.ts';
import { openStorage } from '../platform/open-storage.ts';
import { openTokenStores, revokeKey, keyInfo } from '../platform/auth/token-stores.ts';
import { systemClock } from '../platform/system-clock.ts';

/** The way to the keys of a home. What fails is an Error whose message can be shown. */
export interface ApiKeyClient extends AsyncDisposable {
  create(params: CreateKey): Promise<CreatedKey>;
  list(): Promise<readonly KeyInfo[]>;
  revoke(id: string): Promise<void>;
}

const DEADLINE_MS = 30_000;

/** Through the server that runs on this home, which must hear of a change at once; else over its store. */
export async function openApiKeyClient(config: Config): Promise<ApiKeyClient> {
  const server = await findServer(config);
  return server ? throughServer(server) : overStore(config);
}

async function overStore(config: Config): Promise<ApiKeyClient> {
  const storage = await openStorage(config, { clock: systemClock });
  const tokens = await openTokenStores(storage.records, systemClock);
  return {
    async create({ name, scope, expires_in }) {
      const issued = await tokens.keys.issue({ name, scope }, expires_in ?? undefined);
      if (!issued) throw new Error('There are as many keys as there may be. Revoke one first.');
      return { ...keyInfo(issued.held), key: issued.token };
    },
    list: async () => tokens.keys.list.map((one) => keyInfo(one)),
    async revoke(id) {
      if (!(await revokeKey(tokens, id))) throw new Error(unknownKey(id));
    },
    [Symbol.asyncDispose]: () => storage.close(),
  };
}

function throughServer(server: FoundServer): ApiKeyClient {
  async function ask(method: 'GET' | 'POST' | 'DELETE', path: string, given?: object): Promise<unknown> {
    const { status, ok, body } = await askServer(server, method, path, { body: given, deadlineMs: DEADLINE_MS });
    if (status === 401) throw new Error(`The server at ${server.url} wants its key: set SESSION_API_KEY.`);
    if (status === 404) throw new Error(unknownKey(path.slice(path.lastIndexOf('/') + 1)));
    if (!ok) throw new Error(String(body.message ?? `The server answered ${status}.`));
    return body;
  }
  return {
    create: async (params) => CreatedKey.parse(await ask('POST', '/api/keys', params)),
    list: async () => KeyList.parse(await ask('GET', '/api/keys')).keys,
    revoke: async (id) => void (await ask('DELETE', `/api/keys/${encodeURIComponent(id)}`)),
    [Symbol.asyncDispose]: async () => {},
  };
}

function unknownKey(id: string): string {
  return `There is no key ${id}. \`tendon keys list\` shows those there are.`;
}
