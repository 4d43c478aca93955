import { addressesOf, type BackendSettings } from '@tendon/protocol';
import { connect, type ConnectOptions, type ConversationConnection } from './connection/connect.ts';
import { createRest, type RestOptions } from './create-rest.ts';

export type ClientOptions = RestOptions | (Omit<RestOptions, 'baseUrl'> & { readonly backend: BackendSettings });

/** One server: its REST resources and connections to its conversations. Holds no state of its own. */
export function createClient(options: ClientOptions) {
  const rest = createRest('backend' in options ? { ...options, baseUrl: addressesOf(options.backend).http } : options);
  return {
    ...rest,
    connect: (conversationId: string, connectOptions: Partial<ConnectOptions> = {}): ConversationConnection =>
      connect(conversationId, { baseUrl: rest.baseUrl, apiKey: rest.apiKey, ...connectOptions }),
  };
}

export type Client = ReturnType<typeof createClient>;
