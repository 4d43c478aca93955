/** A branch that somebody should look at before it goes into another one. */
export interface PullRequestWish {
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
  /** One sentence: what of the wish could not be done. */
  readonly remark?: string;
}

/** Each rejects like the other questions of `ProviderApi`. */
export interface PullRequests {
  /** Asked once: whether it was opened is not certain when this rejects. */
  open(wish: PullRequestWish): Promise<PullRequest>;
  /** The one that is open from that branch into that one. */
  find(wish: Pick<PullRequestWish, 'repository' | 'source' | 'target'>): Promise<PullRequest | undefined>;
}
