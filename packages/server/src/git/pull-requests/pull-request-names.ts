import type { GitProvider } from '@tendon/protocol';

/** The tools that open pull requests, by the names of 0.62, and whose token each needs. */
export const PULL_REQUEST_NAMES: ReadonlyMap<string, GitProvider> = new Map([
  ['create_pr', 'github'],
  ['create_mr', 'gitlab'],
  ['create_bitbucket_pr', 'bitbucket'],
]);
