import type { CheckpointFile } from '@tendon/protocol/executor-api';
import { toBytes, toText } from './byte-path.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import type { Tree, TreeEntry } from './tree.ts';

const EMPTY: Tree = new Map();

/** What a path of people's is in the tree of a checkpoint. Throws for what is no path in the workspace. */
export function fileInTree(store: Pick<CheckpointStore, 'tree' | 'content'>, root: string, path: string, maxBytes: number): CheckpointFile {
  let entry: TreeEntry | undefined = { kind: 'folder', mode: 0, hash: root };
  for (const segment of segmentsOf(path)) {
    if (entry?.kind !== 'folder') return { state: entry?.kind === 'left' ? 'left' : 'absent' };
    entry = store.tree(entry.hash).get(segment);
  }
  if (entry === undefined) return { state: 'absent' };
  if (entry.kind === 'folder' || entry.kind === 'left') return { state: entry.kind };
  if (entry.kind === 'link') return { state: 'link', target: toText(entry.target) };
  const content = store.content(entry.hash);
  return content.length > maxBytes ? { state: 'too-large' } : { state: 'file', content: Buffer.from(content).toString('base64') };
}

interface Roots {
  readonly current: string | undefined;
  readonly target: string | undefined;
}

/** The current tree with these paths as they are in the target: its hash. Must be called within a transaction of the store. */
export function withPathsOf(store: Pick<CheckpointStore, 'tree' | 'putTree'>, roots: Roots, paths: readonly string[]): string {
  return graft(
    store,
    roots,
    paths.map((path) => segmentsOf(path)),
  );
}

function graft(
  store: Pick<CheckpointStore, 'tree' | 'putTree'>,
  { current, target }: Roots,
  paths: readonly (readonly string[])[],
): string {
  const now = new Map(current === undefined ? EMPTY : store.tree(current));
  const then = target === undefined ? EMPTY : store.tree(target);
  const put = (name: string, entry: TreeEntry | undefined): void => void (entry ? now.set(name, entry) : now.delete(name));
  for (const [name, below] of Map.groupBy(paths, ([first]) => first!)) {
    const [here, there] = [now.get(name), then.get(name)];
    const rests = below.map((path) => path.slice(1));
    if (rests.some((rest) => rest.length === 0)) put(name, there);
    else if (here?.kind === 'folder' || there?.kind === 'folder') {
      const hash = graft(store, { current: hashOf(here), target: hashOf(there) }, rests);
      const isGone = there === undefined && store.tree(hash).size === 0;
      const folder = here?.kind === 'folder' ? here : (there as Extract<TreeEntry, { kind: 'folder' }>);
      put(name, isGone ? undefined : { ...folder, hash });
    }
  }
  return store.putTree(now);
}

function hashOf(entry: TreeEntry | undefined): string | undefined {
  return entry?.kind === 'folder' ? entry.hash : undefined;
}

function segmentsOf(path: string): readonly string[] {
  const segments = toBytes(path).split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..' || segment.includes('\0')))
    throw new Error(`"${path.slice(0, 200)}" is not a path in the workspace`);
  return segments;
}
