import { addressesOf, type BackendSettings } from '@tendon/protocol';
import { connect, type ConnectOptions, type ConversationConnection } from './connection/connect.ts';
import { conversationRoutes } from './rest/conversations.ts';
import { fileRoutes } from './rest/files.ts';
import { optionRoutes } from './rest/options.ts';
import { createRequest, hostOf } from './rest/request.ts';
import { settingsRoutes } from './rest/settings.ts';

export type ClientOptions = ({ readonly baseUrl: string } | { readonly backend: BackendSettings }) & {
  /** A function is asked before every request and every connection, so that a new key needs no new client. */
  readonly apiKey?: string | (() => string | undefined);
  readonly fetch?: typeof fetch;
  /** Deadline of one REST request; default 30 s. */
  readonly timeoutMs?: number;
};

/** One server: its REST resources and connections to its conversations. Holds no state of its own. */
export function createClient(options: ClientOptions) {
  const baseUrl = ('baseUrl' in options ? options.baseUrl : addressesOf(options.backend).http).replace(/\/+$/, '');
  const { apiKey } = options;
  const key = typeof apiKey === 'function' ? apiKey : () => apiKey;
  const send: typeof fetch = options.fetch ?? ((...args) => globalThis.fetch(...args));
  const request = createRequest({ baseUrl, apiKey: key, fetch: send, timeoutMs: options.timeoutMs ?? 30_000 });
  return {
    baseUrl,
    /** `host:port`, for people. */
    host: hostOf(baseUrl),
    conversations: conversationRoutes(request),
    settings: settingsRoutes(request),
    options: optionRoutes(request),
    files: fileRoutes(request),
    connect: (conversationId: string, connectOptions: Partial<ConnectOptions> = {}): ConversationConnection =>
      connect(conversationId, { baseUrl, apiKey: key, ...connectOptions }),
  };
}

export type Client = ReturnType<typeof createClient>;
