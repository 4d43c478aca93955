/**
 * Who may ask for what: a row for each route and socket. `public`: everybody, without a key. `shared`: every reader, and everybody who has
 * a link to the conversation. Then the scopes, each with what stands before it. A route without a row is the owner's; a test says so.
 */
export type Need = 'public' | 'shared' | 'read' | 'drive' | 'admin';

const ONE = '/api/conversations/:id';

const ROWS: Readonly<Record<Need, readonly string[]>> = {
  public: [
    // Alike for everybody and nothing of the user's: liveness, and the web app, which must load before it can ask for the key.
    'GET /alive',
    'GET /health',
    'GET /ready',
    'GET /*',
    'GET /login',
    'POST /login',
    // To the identity provider and back.
    'GET /login/oidc',
    'GET /login/oidc/callback',
    // Asked by a browser that another site leads here: the state that it brings is what lets it in.
    'GET /mcp/oauth/callback',
    // Whose sender has the secret of the trigger instead.
    'POST /api/triggers/:id/webhook',
  ],
  shared: [`GET ${ONE}`, `GET ${ONE}/events`, `GET ${ONE}/events/search`, `GET ${ONE}/trajectory`, 'WATCH /socket.io', 'WATCH /ws'],
  read: [
    'GET /server_info',
    'GET /api/whoami',
    'POST /api/whoami/organisation',
    'GET /metrics',
    'GET /api/backend-settings',
    'GET /api/options/config',
    'GET /api/options/models',
    'GET /api/options/agents',
    'GET /api/options/security-analyzers',
    'GET /api/limits/mine',
    'GET /api/conversations',
    'GET /api/microagent-management/conversations',
    `GET ${ONE}/events/:eventId/output`,
    `GET ${ONE}/models`,
    `GET ${ONE}/list-files`,
    `GET ${ONE}/select-file`,
    `GET ${ONE}/files/content`,
    `GET ${ONE}/files/tree`,
    `GET ${ONE}/files/download`,
    `GET ${ONE}/zip-directory`,
    `GET ${ONE}/git/changes`,
    `GET ${ONE}/git/diff`,
    `GET ${ONE}/changes`,
    `GET ${ONE}/changes/file`,
    `GET ${ONE}/changes/repository`,
    `GET ${ONE}/microagents`,
    `GET ${ONE}/remember-prompt`,
    `GET ${ONE}/remember_prompt`,
    `GET ${ONE}/config`,
    `GET ${ONE}/network`,
    `GET ${ONE}/confirmation`,
    `GET ${ONE}/confirmation/rules`,
    `GET ${ONE}/delegated`,
    `GET ${ONE}/delegated/questions`,
    `GET ${ONE}/question`,
    'GET /api/search',
    `GET ${ONE}/checkpoints`,
    `GET ${ONE}/checkpoints/:number/changes`,
    'GET /api/v1/sandboxes',
    'GET /api/v1/app-conversations',
    'GET /api/v1/app-conversations/start-tasks',
    'GET /api/v1/sandbox-specs',
    'GET /api/v1/events',
    'GET /api/v1/app-conversations/search',
    'GET /api/v1/app-conversations/start-tasks/search',
    'GET /api/v1/sandboxes/search',
    'GET /api/v1/sandbox-specs/search',
    'GET /api/v1/events/search',
    'GET /api/v1/app-conversations/count',
    'GET /api/v1/app-conversations/start-tasks/count',
    'GET /api/v1/events/count',
    'POST /api/authenticate',
    'POST /api/logout',
    'GET /api/litellm-models',
    'GET /litellm-models',
    'GET /api/litellm-agents',
    'GET /litellm-agents',
    'GET /api/agents',
    'GET /api/default-model',
    'GET /default-model',
    'GET /api/configurations',
    'GET /configurations',
    'GET /api/defaults',
    'GET /api/messages/total',
    'GET /api/messages',
    'GET /messages/total',
    'GET /messages',
    'GET /api/root_task',
    'GET /api/plan',
    'GET /api/refresh-files',
    'GET /refresh-files',
    'GET /api/select-file',
    'GET /select-file',
    'GET /api/list-files',
    'GET /api/zip-directory',
    'GET /api/conversation',
    'GET /api/events/search',
    'GET /api/openapi.json',
    'GET /openapi.json',
    'GET /api/schema/events.json',
    'ALL /api',
    'ALL /api/*',
  ],
  drive: [
    // Frontends ask at load; whose agent works with them may see that they are there.
    'GET /api/settings',
    'GET /api/rules',
    'GET /api/models',
    'GET /api/user/info',
    'GET /api/user/repositories',
    'GET /api/user/installations',
    'GET /api/user/search/repositories',
    'GET /api/user/search/branches',
    'GET /api/user/repository/branches',
    'GET /api/user/repository/*',
    'GET /api/user/suggested-tasks',
    'GET /api/github/user',
    'GET /api/github/repositories',
    'GET /api/github/installations',
    'GET /api/github/search/repositories',
    'GET /api/github/suggested-tasks',
    'POST /api/conversations',
    'GET /api/notes',
    'GET /api/triggers',
    'GET /api/triggers/:id',
    'GET /api/triggers/:id/deliveries',
    'POST /api/triggers/:id/fire',
    // What they are sent waits for somebody who may decide.
    'GET /api/push/devices',
    'POST /api/push/devices',
    'DELETE /api/push/devices/:id',
    `PATCH ${ONE}`,
    `POST ${ONE}/start`,
    `POST ${ONE}/stop`,
    `POST ${ONE}/message`,
    `POST ${ONE}/events`,
    `POST ${ONE}/save-file`,
    `POST ${ONE}/checkpoints/:number/restore`,
    `POST ${ONE}/fork`,
    `POST ${ONE}/changes/revert`,
    `POST ${ONE}/changes/commit`,
    `POST ${ONE}/changes/branch`,
    `POST ${ONE}/changes/pull-request`,
    `POST ${ONE}/upload-files`,
    `POST ${ONE}/submit-feedback`,
    `POST ${ONE}/exp-config`,
    `ALL ${ONE}/security/*`,
    // A link to what runs in the sandbox acts in it.
    `GET ${ONE}/web-hosts`,
    `GET ${ONE}/vscode-url`,
    `PUT ${ONE}/network`,
    `PUT ${ONE}/confirmation`,
    `POST ${ONE}/confirmation/rules`,
    `POST ${ONE}/confirmation/trial`,
    `DELETE ${ONE}/confirmation/rules/:rule`,
    `POST ${ONE}/network/answer`,
    `POST ${ONE}/delegated/questions/:child`,
    `POST ${ONE}/question`,
    `GET ${ONE}/shares`,
    `POST ${ONE}/shares`,
    `DELETE ${ONE}/shares/:share`,
    'GET /api/auth',
    'GET /auth',
    'DELETE /api/messages',
    'DELETE /messages',
    'POST /api/save-file',
    'POST /api/upload-file',
    'POST /api/upload-files',
    'POST /api/submit-feedback',
    'GET /api/vscode-url',
    'ALL /api/security/*',
    // Its tools act with the user's tokens at git providers, as an agent does.
    'POST /mcp/mcp',
    'GET /mcp/mcp',
    'DELETE /mcp/mcp',
    // Sockets that name no conversation make one.
    'DRIVE /socket.io',
    'DRIVE /ws',
    // Who types in a shell acts in the sandbox.
    'DRIVE /shell',
  ],
  admin: [
    // What is gone is gone for everybody.
    `DELETE ${ONE}`,
    // It opens a place to every conversation.
    `POST ${ONE}/network/always`,
    `POST ${ONE}/confirmation/always`,
    'POST /api/settings',
    'DELETE /api/rules/:rule',
    'POST /api/models/probe',
    'POST /api/reset-settings',
    'GET /api/mcp/logins',
    'POST /api/mcp/logins',
    'DELETE /api/mcp/logins',
    'POST /api/mcp/test',
    'GET /api/secrets',
    'POST /api/secrets',
    'PUT /api/secrets/:id',
    'DELETE /api/secrets/:id',
    'POST /api/add-git-providers',
    'POST /api/unset-provider-tokens',
    // Every later conversation begins with them.
    'PUT /api/notes',
    // Their commands may hold keys.
    'GET /api/extensions',
    // It starts conversations when nobody looks.
    'POST /api/triggers',
    'PATCH /api/triggers/:id',
    'DELETE /api/triggers/:id',
    'GET /api/audit',
    'GET /api/users',
    'PATCH /api/users/:id',
    'GET /api/users/:id/export',
    'POST /api/users/:id/erase',
    'GET /api/retention',
    'GET /api/limits',
    'PUT /api/limits/:scope',
    'DELETE /api/limits/:scope',
    'GET /api/keys',
    'POST /api/keys',
    'DELETE /api/keys/:id',
    'GET /api/sandboxes',
    'POST /api/sandboxes/:id/stop',
    'POST /api/sandboxes/reclaim',
    // This server leaves.
    'POST /cluster/drain',
  ],
};

/**
 * Whose what a route is about, where the server has users. `server`: every organisation's, so a user has to administer the server. `own`: the
 * caller's, so a user in a browser needs no scope. `conversation`: of the one that `:id` names. Everything else is the organisation's, or nobody's.
 */
export type Reach = 'server' | 'own' | 'conversation';

const SERVER: ReadonlySet<string> = new Set([
  'POST /api/users/:id/erase',
  'GET /metrics',
  'GET /api/audit',
  'GET /api/retention',
  'GET /api/limits',
  'PUT /api/limits/:scope',
  'DELETE /api/limits/:scope',
  'POST /api/settings',
  'GET /api/rules',
  'DELETE /api/rules/:rule',
  'POST /api/models/probe',
  'POST /api/reset-settings',
  'GET /api/mcp/logins',
  'POST /api/mcp/logins',
  'DELETE /api/mcp/logins',
  'POST /api/mcp/test',
  'GET /api/notes',
  'PUT /api/notes',
  'GET /api/extensions',
  'POST /api/sandboxes/reclaim',
  `POST ${ONE}/network/always`,
  `POST ${ONE}/confirmation/always`,
]);
const OWN: ReadonlySet<string> = new Set([
  'GET /api/users/:id/export',
  'GET /api/keys',
  'POST /api/keys',
  'DELETE /api/keys/:id',
  'GET /api/push/devices',
  'POST /api/push/devices',
  'DELETE /api/push/devices/:id',
  // Of their organisation or the server only who administers it; the route says so.
  'GET /api/secrets',
  'POST /api/secrets',
  'PUT /api/secrets/:id',
  'DELETE /api/secrets/:id',
  'POST /api/add-git-providers',
  'POST /api/unset-provider-tokens',
]);

export function reachOf(method: string, route: string | undefined): Reach | undefined {
  const row = `${method === 'HEAD' ? 'GET' : method} ${route}`;
  if (SERVER.has(row)) return 'server';
  if (OWN.has(row)) return 'own';
  return namesConversation(route) ? 'conversation' : undefined;
}

/** Whether `:id` is a conversation's. */
export function namesConversation(route: string | undefined): boolean {
  return route !== undefined && /^\/api\/(?:conversations|sandboxes)\/:id(?:\/|$)/.test(route);
}

const NEEDS: ReadonlyMap<string, Need> = new Map(
  Object.entries(ROWS).flatMap(([need, rows]) => rows.map((row) => [row, need as Need] as const)),
);

/**
 * `undefined`: there is no row.
 * @internal
 */
export function rowOf(method: string, route: string): Need | undefined {
  return NEEDS.get(`${method === 'HEAD' ? 'GET' : method} ${route}`) ?? NEEDS.get(`ALL ${route}`);
}

/** What a route needs; `undefined` is a path that there is not, which is reported to every caller with a key. */
export function needOf(method: string, route: string | undefined): Need {
  // A preflight cannot carry a key, and nothing answers it but the guard.
  if (method === 'OPTIONS') return 'public';
  return route === undefined ? 'read' : (rowOf(method, route) ?? 'admin');
}

/** What a socket needs that names this conversation, or none. */
export function needOfSocket(path: '/socket.io' | '/ws' | '/shell', conversation: string | undefined): Need {
  if (path === '/shell') return rowOf('DRIVE', path)!;
  return conversation === undefined ? rowOf('DRIVE', path)! : rowOf('WATCH', path)!;
}
