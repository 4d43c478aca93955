export interface ProviderUser {
  readonly id: string;
  readonly login: string;
  readonly avatar_url: string;
  readonly company: string | null;
  readonly name: string | null;
  readonly email: string | null;
}

export interface ProviderRepository {
  readonly id: string;
  readonly full_name: string;
  readonly git_provider: string;
  readonly is_public: boolean;
  readonly stargazers_count: number;
  /** The provider's `Link` header: whether there is a next page. */
  readonly link_header: string | null;
  readonly pushed_at: string | null;
  readonly owner_type: 'user' | 'organization';
  readonly main_branch: string | null;
}

export interface ProviderBranch {
  readonly name: string;
  readonly commit_sha: string;
  readonly protected: boolean;
  readonly last_push_date: string | null;
}

export interface BranchPage {
  readonly branches: readonly ProviderBranch[];
  readonly has_next_page: boolean;
  readonly current_page: number;
  readonly per_page: number;
  readonly total_count: number | null;
}

export interface SuggestedTask {
  readonly git_provider: string;
  readonly task_type: 'MERGE_CONFLICTS' | 'FAILING_CHECKS' | 'UNRESOLVED_COMMENTS' | 'OPEN_ISSUE';
  readonly repo: string;
  readonly issue_number: number;
  readonly title: string;
}

export interface Page {
  readonly page: number;
  readonly perPage: number;
}

export interface RepositoriesParams extends Page {
  readonly sort: string;
  /** As `installations` gave it. */
  readonly installation?: string | undefined;
}

export interface SearchParams {
  readonly query: string;
  readonly perPage: number;
  readonly sort: string;
  readonly order: 'asc' | 'desc';
}

/** What is asked about repositories. */
interface RepositoryApi {
  repositories(params: RepositoriesParams): Promise<readonly ProviderRepository[]>;
  searchRepositories(params: SearchParams): Promise<readonly ProviderRepository[]>;
  branches(repository: string, page: Page): Promise<BranchPage>;
  searchBranches(repository: string, query: string, perPage: number): Promise<readonly ProviderBranch[]>;
  /** Paths of the files that lie in `folder` itself. */
  files(repository: string, folder: string): Promise<readonly string[]>;
  file(repository: string, path: string): Promise<string>;
}

/** What is asked of a git provider. Each rejects with what `failureIn` reads, none waits longer than the deadline of `providerFetch`. */
export interface ProviderApi extends RepositoryApi {
  user(): Promise<ProviderUser>;
  /** What its repositories are parted by: installations of an app, workspaces. */
  installations(): Promise<readonly string[]>;
  suggestedTasks(): Promise<readonly SuggestedTask[]>;
  readonly pullRequests: PullRequests;
  readonly comments: Comments;
}

/** A branch that somebody should look at before it goes into another one. */
export interface PullRequestParams {
  /** `owner/name`; of GitLab a path of any depth, or the project's number. */
  readonly repository: string;
  readonly source: string;
  readonly target: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
  readonly labels: readonly string[];
}

export interface PullRequest {
  readonly number: number;
  /** Where people see it. */
  readonly url: string;
  /** One sentence: what of the request could not be done. */
  readonly remark?: string;
}

/** Each rejects like the other questions of `ProviderApi`. */
export interface PullRequests {
  /** ProviderResult once: whether it was opened is not certain when this rejects. */
  open(params: PullRequestParams): Promise<PullRequest>;
  /** The one that is open from that branch into that one. */
  find(params: Pick<PullRequestParams, 'repository' | 'source' | 'target'>): Promise<PullRequest | undefined>;
}

/** An issue or a pull request. */
export interface CommentPlace {
  readonly repository: string;
  readonly number: number;
  readonly isPullRequest: boolean;
}

/** Each rejects like the other questions of `ProviderApi`. */
export interface Comments {
  /** Asked once: whether it was posted is not certain when this rejects. Resolves with the address where people see it. */
  post(place: CommentPlace, body: string): Promise<string>;
  /** The address of the one, not older than `since` (ISO 8601), that has this text in it. */
  find(place: CommentPlace, text: string, since: string): Promise<string | undefined>;
}
