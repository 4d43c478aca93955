import type {
  AddPushDevice,
  AuditPage,
  AuditQuery,
  CreatedKey,
  CreateKey,
  ErasureInfo,
  KeyInfo,
  LimitList,
  Limits,
  NoteFileInfo,
  OldConversations,
  SandboxInfo,
  ScopedLimits,
  OwnLimits,
  PushDevice,
  PushDevices,
  UpdateUser,
  UserInfo,
  UserList,
  WhoAmI,
} from '@tendon/protocol';
import type { Request } from './request.ts';
import type { SecretOwner } from './settings.ts';

/** A repository at a git provider, as far as it is shown. */
export interface RepositoryInfo {
  readonly full_name: string;
  readonly git_provider: string;
  readonly main_branch: string | null;
}

/** What a person could hand over: an issue, or a pull request with a conflict, failed checks or open comments. */
export interface SuggestedTask {
  readonly git_provider: string;
  readonly task_type: string;
  readonly repo: string;
  readonly issue_number: number;
  readonly title: string;
}

export interface AskOptions {
  readonly signal?: AbortSignal;
}

/** What the git providers know whose tokens the server has. Without one they answer 401. */
export function gitRoutes(request: Request) {
  const given = ({ signal }: AskOptions) => signal && { signal };
  return {
    repositories: (options: AskOptions = {}) =>
      request<readonly RepositoryInfo[]>('/api/user/repositories', { query: { per_page: 30 }, ...given(options) }),
    searchRepositories: (query: string, options: AskOptions = {}) =>
      request<readonly RepositoryInfo[]>('/api/user/search/repositories', { query: { query, per_page: 15 }, ...given(options) }),
    /** Whose token it is. */
    user: () => request<{ readonly id: string; readonly login: string }>('/api/user/info'),
    installations: (provider: string) => request<readonly string[]>('/api/user/installations', { query: { provider } }),
    suggestedTasks: () => request<readonly SuggestedTask[]>('/api/user/suggested-tasks'),
    searchBranches: (repository: string, query: string) =>
      request<readonly { readonly name: string }[]>('/api/user/search/branches', { query: { repository, query } }),
    /** The files below `.openhands/microagents` of a repository, `owner/name`. */
    microagents: (repository: string) =>
      request<readonly { readonly name: string; readonly path: string }[]>(`/api/user/repository/${repository}/microagents`),
    /** The first hundred. */
    branches: async (repository: string, options: AskOptions = {}): Promise<readonly string[]> =>
      (
        await request<{ readonly branches: readonly { readonly name: string }[] }>('/api/user/repository/branches', {
          query: { repository, page: 1, per_page: 100 },
          ...given(options),
        })
      ).branches.map(({ name }) => name),
    /** Stored only when the provider accepts it. `host`: of one's own installation. */
    connect: (provider: string, token: string, host: string, owner?: SecretOwner) =>
      request<unknown>('/api/add-git-providers', {
        method: 'POST',
        query: { owner },
        body: { provider_tokens: { [provider]: { token, ...(host && { host }) } } },
      }),
    /** All of them. */
    disconnect: (owner?: SecretOwner) => request<unknown>('/api/unset-provider-tokens', { method: 'POST', query: { owner } }),
  };
}

/** Keys for people and programs. They need the scope `admin`. */
export function keyRoutes(request: Request) {
  return {
    list: async () => (await request<{ readonly keys: readonly KeyInfo[] }>('/api/keys')).keys,
    /** The only time that the key itself is shown. */
    create: (body: CreateKey) => request<CreatedKey>('/api/keys', { method: 'POST', body }),
    revoke: (id: string) => request<unknown>(`/api/keys/${encodeURIComponent(id)}`, { method: 'DELETE' }),
  };
}

/** The caller's devices, which are sent what waits for a person while no page is open. */
export function pushRoutes(request: Request) {
  return {
    /** With the key that a browser subscribes with. */
    list: () => request<PushDevices>('/api/push/devices'),
    /** Again for the same subscription, it renames it. */
    add: (body: AddPushDevice) => request<PushDevice>('/api/push/devices', { method: 'POST', body }),
    remove: (id: string) => request<unknown>(`/api/push/devices/${encodeURIComponent(id)}`, { method: 'DELETE' }),
  };
}

/** Who did what that matters to security, and what everybody may use. */
export function governanceRoutes(request: Request) {
  const scoped = (scope: string): string => `/api/limits/${encodeURIComponent(scope)}`;
  return {
    audit: (query: Partial<AuditQuery> = {}) => request<AuditPage>('/api/audit', { query }),
    limits: () => request<LimitList>('/api/limits'),
    /** Those that hold for the caller; of the server, for most callers, only which there are and which are reached. */
    ownLimits: () => request<OwnLimits>('/api/limits/mine'),
    setLimits: (scope: string, body: Limits) => request<ScopedLimits>(scoped(scope), { method: 'PUT', body }),
    removeLimits: (scope: string) => request<unknown>(scoped(scope), { method: 'DELETE' }),
    /** Those that are deleted because nobody uses them, and old ones that stay; `days`: in place of the server's. */
    oldConversations: (days?: number) => request<OldConversations>('/api/retention', { query: { days } }),
  };
}

/** Who the caller is, and who else there is where the server has users. */
export function userRoutes(request: Request) {
  return {
    me: () => request<WhoAmI>('/api/whoami'),
    /** Of a person in a browser: in which of their organisations they act from now on. */
    chooseOrganisation: (organisation_id: string) =>
      request<unknown>('/api/whoami/organisation', { method: 'POST', body: { organisation_id } }),
    /** Those of the caller's organisation; needs the scope `admin`. */
    list: () => request<UserList>('/api/users'),
    /** A zip with all that a user has: of anybody for who administers the server, else of oneself. */
    export: (id: string) => request<Blob>(`/api/users/${encodeURIComponent(id)}/export`, { asBlob: true }),
    /** Removes all that is theirs, and their name where others have a part in it; only who administers the server may. */
    erase: (id: string) => request<ErasureInfo>(`/api/users/${encodeURIComponent(id)}/erase`, { method: 'POST', body: {} }),
    update: (id: string, body: UpdateUser) => request<UserInfo>(`/api/users/${encodeURIComponent(id)}`, { method: 'PATCH', body }),
  };
}

/** What agents remember between conversations. */
export function noteRoutes(request: Request) {
  return {
    list: async () => (await request<{ readonly files: readonly NoteFileInfo[] }>('/api/notes')).files,
    /** An empty text removes the file; needs the scope `admin`. */
    /** `replaces`: its text when it was read; the answer is 409 where that is another by now. */
    replace: (name: string, text: string, replaces?: string) =>
      request<NoteFileInfo>('/api/notes', { method: 'PUT', body: { name, text, replaces } }),
  };
}

/** What runs commands, for all conversations. They need the scope `admin`. */
export function sandboxRoutes(request: Request) {
  return {
    list: async () => (await request<{ readonly sandboxes: readonly SandboxInfo[] }>('/api/sandboxes')).sandboxes,
    /** Its agent stops too. */
    stop: (conversation: string) => request<unknown>(`/api/sandboxes/${encodeURIComponent(conversation)}/stop`, { method: 'POST' }),
    /** Ends what is left of conversations that are gone. */
    reclaim: () => request<{ readonly reaped: number }>('/api/sandboxes/reclaim', { method: 'POST', body: {} }),
  };
}
