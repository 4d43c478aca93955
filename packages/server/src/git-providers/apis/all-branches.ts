import type { ProviderApi, ProviderBranch } from './provider-api.ts';

/** More than anybody looks through. */
const MAX_PAGES = 10;
const PER_PAGE = 100;

export async function allBranches(api: ProviderApi, repository: string): Promise<readonly ProviderBranch[]> {
  const found: ProviderBranch[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { branches, has_next_page } = await api.branches(repository, { page, perPage: PER_PAGE });
    found.push(...branches);
    if (!has_next_page) break;
  }
  return found;
}
