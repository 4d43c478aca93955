import type { GitProvider } from '@tendon/protocol';
import { repositoryHost } from './git-access.ts';
import type { GitAccounts } from './provider-tokens.ts';

/** What is cloned when a conversation starts, and under which name it lies in the workspace. */
export interface RepositorySource {
  readonly url: string;
  readonly folder: string;
  readonly branch: string | undefined;
}

export interface RepositoryRef {
  readonly repository: string;
  readonly branch?: string | null;
  readonly provider?: string | null;
}

export type ReadRepository = { readonly ok: true; readonly source: RepositorySource } | { readonly ok: false; readonly problem: string };

const PATH = /^[\w.~+-]+(\/[\w.~+-]+)+$/;
const PROVIDERS: readonly string[] = ['github', 'gitlab', 'bitbucket'] satisfies readonly GitProvider[];

/** `owner/name` of a provider (default GitHub), or an `https` URL without a login in it. */
export function readRepository({ repository, branch, provider }: RepositoryRef, tokens: Pick<GitAccounts, 'set'>): ReadRepository {
  if (branch && !isBranch(branch)) return problem(`"${branch.slice(0, 200)}" is not the name of a branch`);
  const host = provider && PROVIDERS.includes(provider) ? (provider as GitProvider) : 'github';
  const given = repository.trim();
  const url = /^https?:\/\//i.test(given) ? URL.parse(given) : URL.parse(`${repositoryHost(host, tokens)}/${given}`);
  const path = url?.pathname.replace(/^\/|\/$|\.git\/?$/g, '') ?? '';
  const folder = path.split('/').at(-1) ?? '';
  const isUp = given.split('/').some((segment) => segment === '.' || segment === '..');
  const isPlain = !isUp && url !== null && url.search === '' && url.hash === '' && PATH.test(path) && !/^[.-]/.test(folder);
  if (!isPlain) return problem(`"${given.slice(0, 200)}" is not a repository: owner/name is expected, or its https URL`);
  if (url.username !== '' || url.password !== '')
    return problem('the URL of a repository must hold no login; store a token in the settings, under Git');
  return { ok: true, source: { url: `${url.origin}/${path}.git`, folder, branch: branch || undefined } };
}

/** As git takes it, and nothing that a command could take for an option. */
function isBranch(name: string): boolean {
  return name.length <= 250 && /^[^\s~^:?*[\\\p{Cc}-][^\s~^:?*[\\\p{Cc}]*$/u.test(name) && !/\.\.|@\{|\/\/|\.lock$|\/$|\.$/.test(name);
}

function problem(words: string): ReadRepository {
  return { ok: false, problem: words };
}
