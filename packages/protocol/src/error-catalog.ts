/**
 * Every error that a client can be given: code → HTTP status, id for clients that translate (`msg_id`, `error_id`), and words.
 * The words say what happened and what to do. A test holds the catalogue, the OpenAPI document and the docs together.
 */
export const ERRORS = {
  INVALID_JSON: { status: 400, messageId: 'STATUS$ERROR', text: () => 'Invalid JSON' },
  INVALID_FRAME: {
    status: 400,
    messageId: 'STATUS$ERROR',
    text: (detail: string) => `This is not an action: ${detail}. Send a JSON object with "action" and "args".`,
  },
  UNKNOWN_ACTION: { status: 400, messageId: 'STATUS$ERROR', text: (kind: string) => `There is no action "${kind}".` },
  INVALID_ARGUMENTS: { status: 400, messageId: 'STATUS$ERROR', text: (detail: string) => `The arguments do not fit: ${detail}.` },
  NOT_FOR_CLIENTS: {
    status: 403,
    messageId: 'STATUS$ERROR',
    text: (kind: string) => `"${kind}" is an action of the agent; a client may not send it.`,
  },
  CLIENT_ID_REUSED: {
    status: 422,
    messageId: 'STATUS$ERROR',
    text: (id: string) => `"${id}" was sent before with something else. Give each new action a client_id or Idempotency-Key of its own.`,
  },
  NO_TASK: { status: 400, messageId: 'STATUS$ERROR', text: () => 'No task specified' },
  ILLEGAL_STATE: { status: 409, messageId: 'STATUS$ERROR', text: (detail: string) => `The agent cannot do that now: ${detail}.` },
  UNKNOWN_STATE: {
    status: 400,
    messageId: 'STATUS$ERROR',
    text: (value: string) => `"${value}" is not a state an agent can be asked for.`,
  },
  FRAME_TOO_LARGE: { status: 413, messageId: 'STATUS$ERROR', text: (limit: string) => `The message is too large; the limit is ${limit}.` },
  NO_CONVERSATION_ID: { status: 400, messageId: 'CONVERSATION$NOT_FOUND', text: () => 'No conversation_id in query params' },
  CONVERSATION_NOT_FOUND: { status: 404, messageId: 'CONVERSATION$NOT_FOUND', text: (id: string) => `Conversation ${id} not found` },
  CONVERSATION_ID_INVALID: {
    status: 400,
    messageId: 'CONVERSATION$NOT_FOUND',
    text: () => 'Conversation ID is not valid: 32 hexadecimal digits are expected',
  },
  CONVERSATION_ID_TAKEN: {
    status: 409,
    messageId: 'STATUS$ERROR',
    text: (id: string) => `There is, or was just now, a conversation ${id}. Choose another id, or leave it out.`,
  },
  CONVERSATION_DELETED: { status: 410, messageId: 'CONVERSATION$NOT_FOUND', text: (id: string) => `Conversation ${id} was deleted` },
  DIRECTORY_NOT_ALLOWED: {
    status: 403,
    messageId: 'STATUS$ERROR',
    text: (path: string) => `The folder ${path} is outside WORKSPACE_BASE. Add it to TENDON_ALLOWED_DIRS on the server to allow it.`,
  },
  FOLDER_NOT_USABLE: {
    status: 409,
    messageId: 'STATUS$ERROR',
    text: (why: string) => `The folder of the conversation cannot be made or opened: ${why}.`,
  },
  NO_SUCH_QUESTION: {
    status: 409,
    messageId: 'STATUS$ERROR',
    text: (host: string) => `Nobody is asked about ${host} here, or somebody has answered already.`,
  },
  EDIT_DENIED: {
    status: 403,
    messageId: 'STATUS$ERROR',
    text: (reason: string) => `Not run as you changed it: ${reason}. The action still waits; change it in another way, or reject it.`,
  },
  SETTINGS_NOT_FOUND: { status: 404, messageId: 'CONFIGURATION$SETTINGS_NOT_FOUND', text: () => 'Settings not found' },
  UNAUTHORIZED: { status: 401, messageId: 'AUTH$INVALID_KEY', text: () => 'Unauthorized' },
  SCOPE_TOO_NARROW: {
    status: 403,
    messageId: 'AUTH$FORBIDDEN',
    text: (scope: string) => `This needs a key with the scope "${scope}".`,
  },
  SERVER_ADMINS_ONLY: {
    status: 403,
    messageId: 'AUTH$FORBIDDEN',
    text: () => 'This concerns every organisation here, and is for those who administer the server.',
  },
  NOT_SHARED: { status: 403, messageId: 'AUTH$FORBIDDEN', text: () => 'The link shows one conversation, and nothing else.' },
  READ_ONLY: { status: 403, messageId: 'AUTH$FORBIDDEN', text: () => 'You can watch this conversation, but not act in it.' },
  ACCESS_ENDED: { status: 401, messageId: 'AUTH$INVALID_KEY', text: () => 'The key or link that opened this has ended.' },
  CROSS_SITE: {
    status: 403,
    messageId: 'AUTH$FORBIDDEN',
    text: () => 'This request did not come from the web app. Programs send a key as X-Session-API-Key.',
  },
  INVALID_TOKEN: { status: 401, messageId: 'AUTH$INVALID_KEY', text: () => 'Invalid token' },
  HOST_NOT_ALLOWED: {
    status: 403,
    messageId: 'STATUS$ERROR',
    text: (host: string) => `The Host "${host}" is not allowed. Use a loopback name, or name it in TENDON_ALLOWED_HOSTS.`,
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    messageId: 'STATUS$ERROR',
    text: (origin: string) => `The Origin "${origin}" is not allowed. Name it in PERMITTED_CORS_ORIGINS to allow it.`,
  },
  RUNTIME_NOT_READY: { status: 404, messageId: 'STATUS$ERROR', text: () => 'Runtime not yet initialized' },
  RUNTIME_FAILED: {
    status: 503,
    messageId: 'STATUS$ERROR_RUNTIME_DISCONNECTED',
    // A whole sentence of the driver's: it names the phase that failed.
    text: (cause: string) => cause,
  },
  LLM_AUTHENTICATION: {
    status: 401,
    messageId: 'STATUS$ERROR_LLM_AUTHENTICATION',
    text: (detail: string) => `The model's provider refused the key: ${detail}`,
  },
  LLM_UNAVAILABLE: {
    status: 503,
    messageId: 'STATUS$ERROR_LLM_SERVICE_UNAVAILABLE',
    text: (detail: string) => `The model's provider did not answer: ${detail}`,
  },
  LLM_FAILED: {
    status: 502,
    messageId: 'STATUS$ERROR_LLM_INTERNAL_SERVER_ERROR',
    text: (detail: string) => `The model's provider failed: ${detail}`,
  },
  LLM_OUT_OF_CREDITS: {
    status: 402,
    messageId: 'STATUS$ERROR_LLM_OUT_OF_CREDITS',
    text: (detail: string) => `The account at the model's provider has no credit: ${detail}`,
  },
  LLM_CONTENT_POLICY: {
    status: 422,
    messageId: 'STATUS$ERROR_LLM_CONTENT_POLICY_VIOLATION',
    text: (detail: string) => `The model's provider refused the content: ${detail}`,
  },
  LLM_CONTEXT_EXCEEDED: {
    status: 413,
    messageId: 'STATUS$ERROR',
    text: (detail: string) => `The conversation no longer fits the model's window: ${detail}`,
  },
  LLM_RATE_LIMITED: {
    status: 429,
    messageId: 'STATUS$LLM_RETRY',
    text: (detail: string) => `The model's provider asked for a pause: ${detail}`,
  },
  LLM_NOT_FOUND: {
    status: 404,
    messageId: 'STATUS$ERROR',
    text: (model: string) => `The model ${model} is not known to its provider. Check LLM_MODEL and LLM_BASE_URL.`,
  },
  PROVIDER_UNREACHABLE: {
    status: 502,
    messageId: 'STATUS$ERROR',
    text: (provider: string) => `${provider} could not be asked whether the token is valid. Nothing was stored.`,
  },
  PROVIDER_REFUSED: {
    status: 401,
    messageId: 'STATUS$ERROR',
    text: (provider: string) => `${provider} refused the stored token for this. Store another one in the settings.`,
  },
  PROVIDER_FAILED: {
    status: 502,
    messageId: 'STATUS$ERROR',
    text: (detail: string) => `The git provider could not be asked. ${detail}. Try again later.`,
  },
  PROVIDER_LIMIT: {
    status: 429,
    messageId: 'STATUS$ERROR',
    text: (provider: string) => `${provider} takes no more requests with this token for now. Try again later.`,
  },
  PROVIDER_NOT_FOUND: {
    status: 404,
    messageId: 'STATUS$ERROR',
    text: (detail: string) => `Not found at ${detail}.`,
  },
  QUOTA_EXCEEDED: { status: 429, messageId: 'STATUS$ERROR', text: (detail: string) => `${detail}.` },
  QUEUE_FULL: {
    status: 429,
    messageId: 'STATUS$ERROR',
    text: () => 'As many of your conversations wait for their turn as may. Try again when one of them has begun.',
  },
  TOO_MANY_REQUESTS: { status: 429, messageId: 'STATUS$ERROR', text: () => 'Too many requests' },
  SERVER_DRAINING: {
    status: 503,
    messageId: 'STATUS$ERROR',
    text: () => 'This server is leaving and begins no new conversation. Ask again: another one answers.',
  },
  NOT_IMPLEMENTED: {
    status: 501,
    messageId: 'STATUS$ERROR',
    text: (what: string) => `This version of the server cannot do that yet: ${what}.`,
  },
  AUDIT_OFF: { status: 404, messageId: 'STATUS$ERROR', text: () => 'This server writes no audit log. TENDON_AUDIT=on begins one.' },
  NOT_FOUND: { status: 404, messageId: 'STATUS$ERROR', text: () => 'Not Found' },
  STORAGE_FAILED: {
    status: 507,
    messageId: 'STATUS$ERROR',
    text: (detail: string) =>
      `The server cannot store this: ${detail}. Where its disk is full, make room; the work then goes on by itself.`,
  },
  OWNER_UNREACHABLE: {
    status: 503,
    messageId: 'STATUS$ERROR',
    text: () => 'The server that has this conversation does not answer. Another one takes it over within seconds: try again then.',
  },
  NO_SERVER: {
    status: 503,
    messageId: 'STATUS$ERROR',
    text: () => 'No server takes conversations now. Try again in a few seconds.',
  },
  NOT_THE_OWNER: { status: 421, messageId: 'STATUS$ERROR', text: () => 'Another server has this conversation.' },
  CONVERSATION_MOVED: {
    status: 503,
    messageId: 'STATUS$ERROR',
    text: () => 'Another server goes on with this conversation. Connect again.',
  },
  INTERNAL: { status: 500, messageId: 'STATUS$ERROR', text: () => 'The server failed on this. The log names the cause.' },
} as const satisfies Record<string, { status: number; messageId: string; text: (detail: string) => string }>;

export type ErrorCode = keyof typeof ERRORS;

/** A failure that is reported to a client: a value, not a throw. */
export interface CatalogError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly messageId: string;
  readonly message: string;
  /** Seconds after which it may be tried again, where that is known. */
  readonly retryAfter?: number;
}

export function catalogError(code: ErrorCode, detail = ''): CatalogError {
  const entry = ERRORS[code];
  return { code, status: entry.status, messageId: entry.messageId, message: entry.text(detail) };
}
