import { CreatedTrigger, Delivered, DeliveryList, TriggerInfo, TriggerList, type CreateTrigger, type DeliveryInfo } from '@tendon/protocol';
import {
  askForBody,
  composeEngine,
  deliveryInfo,
  findServer,
  systemClock,
  triggerInfo,
  type Config,
  type FoundServer,
} from '@tendon/server/headless';

/** What the server has a default for may be left out. */
export type TriggerParams = Pick<CreateTrigger, 'name' | 'kind'> & TriggerExtras;
type TriggerExtras = Partial<Omit<CreateTrigger, 'schedule' | 'mention'>> & {
  readonly schedule?: Partial<NonNullable<CreateTrigger['schedule']>>;
  readonly mention?: Partial<NonNullable<CreateTrigger['mention']>>;
};

/** The way to the triggers of a home. What fails is an Error whose message can be shown. */
export interface TriggersClient extends AsyncDisposable {
  /** Of the server; `undefined`: none runs, so nothing fires. */
  readonly url: string | undefined;
  list(): Promise<readonly TriggerInfo[]>;
  deliveries(id: string, limit: number): Promise<readonly DeliveryInfo[]>;
  add(params: TriggerParams): Promise<CreatedTrigger>;
  remove(id: string): Promise<void>;
  enable(id: string, enabled: boolean): Promise<TriggerInfo>;
  fire(id: string, text: string): Promise<Delivered>;
}

const DEADLINE_MS = 30_000;

/** Through the server that runs on this home; without one its store can be read. */
export async function openTriggersClient(config: Config): Promise<TriggersClient> {
  const server = await findServer(config);
  return server ? throughServer(server) : overStore(config);
}

async function overStore(config: Config): Promise<TriggersClient> {
  const { triggers, close } = await composeEngine(config, { clock: systemClock });
  const refuse = () =>
    Promise.reject(new Error('No server runs on this home, and only one changes and fires triggers: start tendon serve.'));
  return {
    url: undefined,
    list: async () => triggers.store.list.map(triggerInfo),
    async deliveries(id, limit) {
      if (!triggers.store.get(id)) throw new Error(unknownTrigger(id));
      return (await triggers.deliveries.list(id, limit)).map(deliveryInfo);
    },
    add: refuse,
    remove: refuse,
    enable: refuse,
    fire: refuse,
    [Symbol.asyncDispose]: close,
  };
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

function throughServer(server: FoundServer): TriggersClient {
  const base = '/api/triggers';
  const ask = (method: Method, path: string, body?: object) => askForBody(server, method, path, { body, deadlineMs: DEADLINE_MS });
  const askOf = (id: string, ...[method, rest = '', body]: [method: Method, rest?: string, body?: object]) =>
    askForBody(server, method, `${base}/${encodeURIComponent(id)}${rest}`, { body, deadlineMs: DEADLINE_MS, notFound: unknownTrigger(id) });
  return {
    url: server.url,
    list: async () => TriggerList.parse(await ask('GET', base)).triggers,
    deliveries: async (id, limit) => DeliveryList.parse(await askOf(id, 'GET', `/deliveries?limit=${limit}`)).deliveries,
    add: async (params) => CreatedTrigger.parse(await ask('POST', base, params)),
    remove: async (id) => void (await askOf(id, 'DELETE')),
    enable: async (id, enabled) => TriggerInfo.parse(await askOf(id, 'PATCH', '', { enabled })),
    fire: async (id, text) => Delivered.parse(await askOf(id, 'POST', '/fire', { text })),
    [Symbol.asyncDispose]: async () => {},
  };
}

function unknownTrigger(id: string): string {
  return `There is no trigger ${id}. "tendon triggers" shows those there are.`;
}
