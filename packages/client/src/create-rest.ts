import { governanceRoutes, gitRoutes, keyRoutes, noteRoutes, pushRoutes, sandboxRoutes, userRoutes } from './rest/accounts.ts';
import { conversationRoutes, shareRoutes } from './rest/conversations.ts';
import { extensionRoutes, triggerRoutes } from './rest/extensions.ts';
import { fileRoutes } from './rest/files.ts';
import { mcpLoginRoutes, modelRoutes, optionRoutes, ruleRoutes, secretRoutes, settingsRoutes } from './rest/settings.ts';
import { reviewRoutes } from './rest/review.ts';
import { createRequest, hostOf, type Request, withSignal } from './rest/request.ts';

export interface RestOptions {
  readonly baseUrl: string;
  /** A function is asked before every request and every connection, so that a new key needs no new client. */
  readonly apiKey?: string | (() => string | undefined);
  readonly fetch?: typeof fetch;
  /** Deadline of one REST request; default 30 s. */
  readonly timeoutMs?: number;
}

/** The REST resources of one server; a page that shows no conversation needs no more than this. */
export function createRest(options: RestOptions) {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const { apiKey } = options;
  const key = typeof apiKey === 'function' ? apiKey : () => apiKey;
  const send: typeof fetch = options.fetch ?? ((...args) => globalThis.fetch(...args));
  const request = createRequest({ baseUrl, apiKey: key, fetch: send, timeoutMs: options.timeoutMs ?? 30_000 });
  return {
    baseUrl,
    /** `host:port`, for people. */
    host: hostOf(baseUrl),
    apiKey: key,
    ...routes(request),
    /** The same routes; what is asked with them is given up when the signal is aborted, and rejects with its reason. */
    cancelledBy: (signal: AbortSignal): Routes => routes(withSignal(request, signal)),
  };
}

function routes(request: Request) {
  return {
    /** Ends the session of this browser, where it has one. `redirect`: where the browser goes to end it at the identity provider too. */
    signOut: () => request<{ readonly redirect?: string } | undefined>('/api/logout', { method: 'POST' }),
    conversations: conversationRoutes(request),
    shares: shareRoutes(request),
    settings: settingsRoutes(request),
    rules: ruleRoutes(request),
    secrets: secretRoutes(request),
    mcpLogins: mcpLoginRoutes(request),
    options: optionRoutes(request),
    models: modelRoutes(request),
    files: fileRoutes(request),
    review: reviewRoutes(request),
    triggers: triggerRoutes(request),
    extensions: extensionRoutes(request),
    git: gitRoutes(request),
    keys: keyRoutes(request),
    push: pushRoutes(request),
    users: userRoutes(request),
    governance: governanceRoutes(request),
    notes: noteRoutes(request),
    sandboxes: sandboxRoutes(request),
  };
}

type Routes = ReturnType<typeof routes>;
export type Rest = ReturnType<typeof createRest>;
