import type { CheckpointChange } from '@tendon/protocol/executor-api';
import { toText } from './byte-path.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import { isSame, type Tree, type TreeEntry } from './tree.ts';

const MAX_NAMED = 200;
const EMPTY: Tree = new Map();

export interface Comparison {
  /** All files and links that differ, also those that are not named. */
  readonly count: number;
  readonly changes: readonly CheckpointChange[];
}

/** What making the one the other would do to files and links; it goes only into folders that differ. */
export function compareTrees(store: Pick<CheckpointStore, 'tree'>, current: string, target: string): Comparison {
  const changes: CheckpointChange[] = [];
  let count = 0;
  const name = (path: string, change: CheckpointChange['change']): void => {
    count += 1;
    if (changes.length < MAX_NAMED) changes.push({ path: toText(path), change });
  };
  const inFolder = (path: string, now: string | undefined, then: string | undefined): void => {
    if (now === then) return;
    const [has, wanted] = [now, then].map((hash) => (hash === undefined ? EMPTY : store.tree(hash))) as [Tree, Tree];
    for (const entry of [...new Set([...has.keys(), ...wanted.keys()])].toSorted()) {
      const [from, to] = [has.get(entry), wanted.get(entry)];
      if (isSame(from, to)) continue;
      if (from?.kind === 'folder' || to?.kind === 'folder') inFolder(`${path}${entry}/`, hashOf(from), hashOf(to));
      const [isHere, isThere] = [isLeaf(from), isLeaf(to)];
      if (isHere || isThere) name(path + entry, isHere ? (isThere ? 'changed' : 'removed') : 'added');
    }
  };
  inFolder('', current, target);
  return { count, changes };
}

function hashOf(entry: TreeEntry | undefined): string | undefined {
  return entry?.kind === 'folder' ? entry.hash : undefined;
}

function isLeaf(entry: TreeEntry | undefined): boolean {
  return entry?.kind === 'file' || entry?.kind === 'link';
}
