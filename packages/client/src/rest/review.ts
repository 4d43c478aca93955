import type {
  CommandOutcome,
  FileVersions,
  OpenedPullRequest,
  OpenPullRequest,
  RepositoryAnswer,
  RevertChange,
  RevertedChange,
  WorkspaceChanges,
} from '@tendon/protocol';
import type { Request } from './request.ts';

export interface Comparison {
  /** `start`, `turn`, `published`, `event:ID`, `checkpoint:NUMBER` or `branch:NAME`. */
  readonly against: string;
  /** Compares with the state before this event instead of the present. */
  readonly until?: number | undefined;
}

/** Hooks run before a commit, and a push goes over the network. */
const COMMAND_MS = 150_000;

const at = (id: string, rest = '') => `/api/conversations/${encodeURIComponent(id)}/changes${rest}`;

/** What has changed in a workspace, by the agent, its shell or a person, and what a person does with that. Tendon's own. */
export function reviewRoutes(request: Request) {
  return {
    /** `isWaking`: starts a suspended sandbox to look. */
    changes: (id: string, { isWaking, ...query }: Comparison & { readonly isWaking: boolean }) =>
      request<WorkspaceChanges>(at(id), { query: { ...query, wake: isWaking ? '1' : '0' } }),
    file: (id: string, path: string, query: Comparison) => request<FileVersions>(at(id, '/file'), { query: { path, ...query } }),
    repository: (id: string, { isWaking }: { readonly isWaking: boolean }) =>
      request<RepositoryAnswer>(at(id, '/repository'), { query: { wake: isWaking ? '1' : '0' } }),
    revert: (id: string, body: RevertChange) => request<RevertedChange>(at(id, '/revert'), { method: 'POST', body }),
    commit: (id: string, body: { readonly message: string; readonly paths?: readonly string[] }) =>
      request<CommandOutcome>(at(id, '/commit'), { method: 'POST', body, timeoutMs: COMMAND_MS }),
    branch: (id: string, name: string) => request<CommandOutcome>(at(id, '/branch'), { method: 'POST', body: { name } }),
    openPullRequest: (id: string, body: OpenPullRequest) =>
      request<OpenedPullRequest>(at(id, '/pull-request'), { method: 'POST', body, timeoutMs: COMMAND_MS }),
  };
}
