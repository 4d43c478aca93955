import type { CheckpointChange } from '@tendon/protocol/executor-api';
import { toText } from './byte-path.ts';
import { createLineCounter } from './count-lines.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import { isSame, type Tree, type TreeEntry } from './tree.ts';

const MAX_NAMED = 1000;
const EMPTY: Tree = new Map();

export interface Comparison {
  /** All files and links that differ, also those that are not named. */
  readonly count: number;
  readonly changes: readonly CheckpointChange[];
}

/** What making the one the other would do to files and links; it goes only into folders that differ. */
export function compareTrees(
  store: Pick<CheckpointStore, 'tree' | 'content'>,
  roots: { readonly current: string; readonly target: string },
  { lines = false }: { readonly lines?: boolean } = {},
): Comparison {
  const counter = lines ? createLineCounter(store) : undefined;
  const changes: CheckpointChange[] = [];
  let count = 0;
  const name = (path: string, now: TreeEntry | undefined, then: TreeEntry | undefined): void => {
    count += 1;
    if (changes.length >= MAX_NAMED) return;
    const change = now ? (then ? 'changed' : 'removed') : 'added';
    const counted = counter?.(now, then);
    const content = lines && contentOf(now);
    changes.push({ path: toText(path), change, ...(counted && { lines: counted }), ...(content && { content }) });
  };
  const inFolder = (path: string, now: string | undefined, then: string | undefined): void => {
    if (now === then) return;
    const [has, wanted] = [now, then].map((hash) => (hash === undefined ? EMPTY : store.tree(hash))) as [Tree, Tree];
    for (const entry of [...new Set([...has.keys(), ...wanted.keys()])].toSorted()) {
      const [from, to] = [has.get(entry), wanted.get(entry)];
      if (isSame(from, to)) continue;
      if (from?.kind === 'folder' || to?.kind === 'folder') inFolder(`${path}${entry}/`, hashOf(from), hashOf(to));
      const [here, there] = [leafOf(from), leafOf(to)];
      if (here || there) name(path + entry, here, there);
    }
  };
  inFolder('', roots.current, roots.target);
  return { count, changes };
}

/** Enough of the hash that two contents of one file differ in it. */
const CONTENT_CHARS = 16;

function contentOf(entry: TreeEntry | undefined): string | undefined {
  return entry?.kind === 'file' ? entry.hash?.slice(0, CONTENT_CHARS) : undefined;
}

function hashOf(entry: TreeEntry | undefined): string | undefined {
  return entry?.kind === 'folder' ? entry.hash : undefined;
}

function leafOf(entry: TreeEntry | undefined): TreeEntry | undefined {
  return entry?.kind === 'file' || entry?.kind === 'link' ? entry : undefined;
}
