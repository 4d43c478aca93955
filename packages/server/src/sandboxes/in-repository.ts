import type { GitChanges } from '@tendon/protocol';

export interface WithRepository {
  readonly selected_repository: string | null;
}

/** The folder of the conversation's repository in its workspace, with a slash at its end. */
export function repositoryFolder({ selected_repository }: WithRepository): string | undefined {
  const name = selected_repository
    ?.replace(/\/$|\.git\/?$/g, '')
    .split('/')
    .at(-1);
  return name ? `${name}/` : undefined;
}

/**
 * Frontends know the files of a conversation's repository by their paths in it, and look their differences up again by those. What lies
 * beside the repository keeps its path in the workspace, and so does what would else have another's name.
 */
export function pathsInRepository(changes: GitChanges, folder: string): GitChanges {
  const beside = new Set(changes.flatMap(({ path }) => (path.startsWith(folder) ? [] : [path])));
  return changes
    .map(({ status, path }) => {
      const inside = path.startsWith(folder) ? path.slice(folder.length) : path;
      return { status, path: beside.has(inside) ? path : inside };
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
