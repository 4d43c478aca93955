import type { ProviderApi } from './provider-api.ts';
import { ProviderFailure, providerFailureOf } from './provider-fetch.ts';
import type { GitProvider } from '@tendon/protocol';

/** Where a repository keeps them; the one that is named like the folder has them at its root. */
function folderOf(repository: string): string {
  const name = repository.split('/').at(-1);
  return name === '.openhands' || name === 'openhands-config' ? 'microagents' : '.openhands/microagents';
}

/** Their paths. A repository without the folder has none; a repository that is not there fails. */
export async function repositoryMicroagents(api: ProviderApi, provider: GitProvider, repository: string): Promise<readonly string[]> {
  const found = await filesIn(api, provider, repository, folderOf(repository));
  const root = await filesIn(api, provider, repository, '');
  if (root === undefined)
    throw new ProviderFailure('PROVIDER_NOT_FOUND', `there is no repository ${repository}, or the token may not see it`);
  return [
    ...root.filter((path) => path === '.cursorrules'),
    ...(found ?? []).filter((path) => path.endsWith('.md') && !path.endsWith('/README.md')),
  ];
}

async function filesIn(
  api: ProviderApi,
  provider: GitProvider,
  repository: string,
  folder: string,
): Promise<readonly string[] | undefined> {
  try {
    return await api.files(repository, folder);
  } catch (thrown) {
    if (providerFailureOf(provider, thrown).error.code === 'PROVIDER_NOT_FOUND') return undefined;
    throw thrown;
  }
}
