/** Which requests are acts for the audit log, and what is recorded of each: names, never values. A test holds that every change has a row or a reason. */
import type { AuditEntry } from '@tendon/protocol';

/** What a request and its answer say. */
export interface ActParts {
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** The answer, where it is JSON and the row asks for it. */
  readonly answer: Readonly<Record<string, unknown>>;
}

type Detail = AuditEntry['detail'];

export interface AuditedRoute {
  readonly action: string;
  readonly target: (parts: ActParts) => unknown;
  readonly detail: (parts: ActParts) => Detail;
  /** Whether the target is in the answer. */
  readonly isAnswered: boolean;
}

const ONE = '/api/conversations/:id';

const byId = ({ params }: ActParts): unknown => params['id'];
const none = (): Detail => ({});

function row(action: string, target: AuditedRoute['target'] = byId, detail: AuditedRoute['detail'] = none): AuditedRoute {
  return { action, target, detail, isAnswered: false };
}

function made(action: string, key: string, detail: AuditedRoute['detail'] = none): AuditedRoute {
  return { action, target: ({ answer }) => answer[key], detail, isAnswered: true };
}

/** Which of these the request has, where they are short. */
function some(...names: readonly string[]): AuditedRoute['detail'] {
  return ({ body }) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = body[name];
        return ['string', 'number', 'boolean'].includes(typeof value) ? [[name, value as string]] : [];
      }),
    );
}

/** The names of what was changed. */
const fields: AuditedRoute['detail'] = ({ body }) => ({ fields: Object.keys(body).filter((name) => body[name] !== undefined) });

const inConversation = ({ params, body }: ActParts, ...names: readonly string[]): Detail => ({
  ...(params['id'] !== undefined && { conversation: params['id'] }),
  ...some(...names)({ params, body, query: {}, answer: {} }),
});

const rules = ({ body }: ActParts): Detail => ({
  ...some('policy', 'analyzer', 'scope')({ params: {}, body, query: {}, answer: {} }),
  fields: Object.keys(body).filter((name) => body[name] !== undefined),
});

export const AUDITED: Readonly<Record<string, AuditedRoute>> = {
  'POST /api/logout': row('logout', () => undefined),
  'POST /api/keys': made('key.created', 'id', some('name', 'scope', 'expires_in')),
  'DELETE /api/keys/:id': row('key.revoked'),
  'POST /api/push/devices': made('push-device.added', 'id', some('device')),
  'DELETE /api/push/devices/:id': row('push-device.removed'),
  [`POST ${ONE}/shares`]: made('share.created', 'id', (parts) => inConversation(parts, 'expires_in')),
  [`DELETE ${ONE}/shares/:share`]: row('share.revoked', ({ params }) => params['share'], inConversation),

  'POST /api/settings': row('settings.changed', () => undefined, fields),
  'POST /api/reset-settings': row('settings.reset', () => undefined),
  'POST /api/secrets': row('secret.created', ({ body }) => body['name']),
  'PUT /api/secrets/:id': row('secret.changed', byId, some('name')),
  'DELETE /api/secrets/:id': row('secret.deleted'),
  'POST /api/add-git-providers': row(
    'git-account.changed',
    () => undefined,
    ({ body }) => ({ providers: Object.keys(body['provider_tokens'] ?? {}) }),
  ),
  'POST /api/unset-provider-tokens': row('git-account.removed', () => undefined),
  'POST /api/mcp/logins': row('mcp.login-begun', ({ body }) => body['server']),
  'DELETE /api/mcp/logins': row('mcp.logged-out', ({ query }) => query['server']),
  'PUT /api/notes': row('notes.changed', ({ body }) => body['name']),
  'POST /api/triggers': made('trigger.created', 'id', some('name', 'kind')),
  'PATCH /api/triggers/:id': row('trigger.changed', byId, fields),
  'DELETE /api/triggers/:id': row('trigger.deleted'),

  [`POST ${ONE}/fork`]: made('conversation.created', 'conversation_id', ({ params }) => ({ from: params['id'] ?? '' })),
  [`DELETE ${ONE}`]: row('conversation.deleted'),
  [`GET ${ONE}/trajectory`]: row('conversation.exported', byId, ({ query }) => ({ format: String(query['format'] ?? 'json') })),
  [`GET ${ONE}/zip-directory`]: row('conversation.exported', byId, () => ({ format: 'files' })),
  'GET /api/zip-directory': row(
    'conversation.exported',
    () => undefined,
    () => ({ format: 'files' }),
  ),

  [`PUT ${ONE}/confirmation`]: row('policy.changed', byId, rules),
  [`POST ${ONE}/confirmation/rules`]: row('policy.changed', byId, rules),
  [`DELETE ${ONE}/confirmation/rules/:rule`]: row('policy.changed', byId, ({ params }) => ({ removed: params['rule'] ?? '' })),
  [`POST ${ONE}/confirmation/always`]: row('policy.changed', () => undefined, rules),
  'DELETE /api/rules/:rule': row(
    'policy.changed',
    () => undefined,
    ({ params }) => ({ removed: params['rule'] ?? '' }),
  ),
  [`PUT ${ONE}/network`]: row('network.changed', byId, some('mode')),
  [`POST ${ONE}/network/answer`]: row(
    'network.answered',
    ({ body }) => body['host'],
    (parts) => inConversation(parts, 'answer'),
  ),
  [`POST ${ONE}/network/always`]: row('network.allowed', ({ body }) => body['host'], inConversation),

  'PATCH /api/users/:id': row('user.changed', byId, fields),
  'POST /api/users/:id/erase': row('user.erased'),
  'GET /api/users/:id/export': row('user.exported'),
  'POST /api/whoami/organisation': row('organisation.entered', ({ body }) => body['organisation_id']),
  'POST /cluster/drain': row('server.drained', () => undefined),
  'PUT /api/limits/:scope': row('limits.changed', ({ params }) => params['scope'], fields),
  'DELETE /api/limits/:scope': row('limits.removed', ({ params }) => params['scope']),
  'POST /api/sandboxes/:id/stop': row('sandbox.stopped'),
  'POST /api/sandboxes/reclaim': row('sandbox.reclaimed', () => undefined),
};
