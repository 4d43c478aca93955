import { connect, type ConnectOptions, type ConversationConnection } from './connection/connect.ts';
import { createRest, type Rest, type RestOptions } from './create-rest.ts';

/** Where a conversation is opened; its server and key are the client's. */
export type OpenOptions = Partial<Omit<ConnectOptions, 'baseUrl' | 'apiKey'>>;

export interface Client extends Rest {
  /** Opens at once and stays until `close`, whatever happens to the network. */
  readonly open: (conversationId: string, options?: OpenOptions) => ConversationConnection;
}

/** Everything of one server: its REST resources, and its conversations live. */
export function createClient(options: RestOptions): Client {
  const rest = createRest(options);
  const { baseUrl, apiKey } = rest;
  return { ...rest, open: (id, given = {}) => connect(id, { ...given, baseUrl, apiKey }) };
}
