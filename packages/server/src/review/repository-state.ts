import { shellQuote } from '@tendon/protocol/executor-api';
import type { GitProvider, WorkspaceRepository } from '@tendon/protocol';
import { GIT_PRELUDE } from '../git/workspace-changes.ts';
import { hostOf } from '../git-providers/git-access.ts';
import type { GitAccounts } from '../git-providers/provider-tokens.ts';
import { RepositoryName } from '../git-providers/provider-questions.ts';
import { nulFields } from '../sandboxes/nul-fields.ts';
import { runSandboxCommand } from '../sandboxes/sandbox-command.ts';
import type { Workspace } from '../sandboxes/workspace-of.ts';

/** What a commit or a push needs to know beside what is shown. */
export interface RepositoryState {
  readonly shown: WorkspaceRepository;
  /** Git knows there who commits. */
  readonly hasIdentity: boolean;
}

const MAX_PATHS = 500;
const MAX_BRANCHES = 200;
const MAX_FIELDS = 20_000;

/** The conversation's repository, else the workspace itself, else the first folder that is one. */
function stateScript(folder: string | undefined): string {
  return `${GIT_PRELUDE}
for dir in ${folder === undefined ? '' : shellQuote(folder)} . */; do
  cd -- "$root" || exit 1
  if [ "$dir" = . ]; then g rev-parse --is-inside-work-tree >&3 || continue; else [ -e "$dir.git" ] || continue; fi
  cd -- "$dir" || continue
  printf '%s\\0' "$dir" "$(g symbolic-ref --quiet --short HEAD)" "$(g rev-list --count '@{upstream}..HEAD')" \\
    "$(g config --get remote.origin.url)" "$(g symbolic-ref --quiet --short refs/remotes/origin/HEAD)" "$(g config user.name)" \\
    "$(g for-each-ref --count=${MAX_BRANCHES} --sort=-committerdate --format='%(refname)' refs/heads refs/remotes/origin)"
  g status --porcelain -z --untracked-files=all --no-renames -- .
  exit 0
done
exit 3`;
}

/** Nothing where there is no repository. Rejects with a user-facing error. */
export async function repositoryState(
  { runtime, root, repository }: Workspace,
  { tokens, now }: { readonly tokens: Pick<GitAccounts, 'logins'>; readonly now: Date },
): Promise<RepositoryState | undefined> {
  const options = { cwd: root, timeoutSeconds: 20, maxBytes: 4 * 1024 * 1024, now };
  const { text, exitCode } = await runSandboxCommand(runtime, stateScript(repository), options);
  if (exitCode === 3) return undefined;
  if (exitCode === 127) throw new Error('there is no git in the sandbox');
  if (exitCode !== 0) throw new Error('git did not answer in time');
  return readState(text, tokens);
}

/**
 * Total: whatever was printed.
 * @internal
 */
export function readState(text: string, tokens: Pick<GitAccounts, 'logins'>): RepositoryState {
  const { fields } = nulFields(text, MAX_FIELDS);
  const [folder = '.', branch = '', ahead = '', url = '', published = '', user = '', refs = '', ...status] = fields;
  const names = refs.split('\n').map((ref) => ref.replace(/^refs\/(?:heads|remotes\/origin)\//, ''));
  const paths = status.map((line) => line.slice(3)).filter((path) => path !== '');
  return {
    hasIdentity: user !== '',
    shown: {
      folder: folder === '.' ? '' : folder,
      branch: branch || null,
      ahead: /^\d{1,9}$/.test(ahead) ? Number(ahead) : null,
      branches: [...new Set(names)].filter((name) => name !== '' && name !== 'HEAD').slice(0, MAX_BRANCHES),
      default_branch: published.replace(/^origin\//, '') || null,
      remote: remoteOf(url, tokens),
      uncommitted: { count: paths.length, paths: paths.slice(0, MAX_PATHS) },
    },
  };
}

const USUAL: readonly { readonly provider: GitProvider; readonly host: null }[] = [
  { provider: 'github', host: null },
  { provider: 'gitlab', host: null },
  { provider: 'bitbucket', host: null },
];

/** The provider whose host the address names, and the repository there. The address is the agent's to change. */
function remoteOf(url: string, { logins }: Pick<GitAccounts, 'logins'>): WorkspaceRepository['remote'] {
  const parts = /^(?:https?|ssh):\/\/(?:[^@/]*@)?([^/]+)\/(.+)$/.exec(url) ?? /^(?:[^@/]+@)?([^:/]+):(.+)$/.exec(url);
  if (!parts) return null;
  const [, host, path] = parts as unknown as [string, string, string];
  const login = logins.find((one) => hostOf(one) === host);
  const place = login ?? USUAL.find((one) => hostOf(one) === host);
  const repository = RepositoryName.safeParse(path.replace(/^\/+|(?:\.git)?\/*$/g, ''));
  return place && repository.success ? { provider: place.provider, repository: repository.data, has_token: login !== undefined } : null;
}
