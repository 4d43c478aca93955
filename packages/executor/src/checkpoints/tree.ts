/**
 * A folder of a checkpoint: its entries by name, stored under the hash of their text. Folders that are equal have the same hash, so
 * comparing two checkpoints goes only where they differ.
 */
export type TreeEntry =
  | { readonly kind: 'file'; readonly mode: number; readonly hash: string }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly mode: number; readonly hash: string }
  /** It is there and its content is not stored: too large, a cache, not readable, or no file. */
  | { readonly kind: 'left'; readonly isUnreadable: boolean };

export type Tree = ReadonlyMap<string, TreeEntry>;

type Row = readonly [name: string, kind: 'f' | 'l' | 'd' | 'x' | 'u', mode: number, hashOrTarget: string];

export function treeText(tree: Tree): string {
  const rows = [...tree].map(([name, entry]) => rowOf(name, entry)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(rows);
}

export function parseTree(text: string): Tree {
  return new Map((JSON.parse(text) as Row[]).map(([name, kind, mode, held]) => [name, entryOf(kind, mode, held)]));
}

export function isSame(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const [, kind, mode, held] = rowOf('', a);
  const [, otherKind, otherMode, otherHeld] = rowOf('', b);
  return kind === otherKind && mode === otherMode && held === otherHeld;
}

function rowOf(name: string, entry: TreeEntry): Row {
  switch (entry.kind) {
    case 'file':
      return [name, 'f', entry.mode, entry.hash];
    case 'link':
      return [name, 'l', 0, entry.target];
    case 'folder':
      return [name, 'd', entry.mode, entry.hash];
    case 'left':
      return [name, entry.isUnreadable ? 'u' : 'x', 0, ''];
  }
}

function entryOf(kind: Row[1], mode: number, held: string): TreeEntry {
  if (kind === 'f') return { kind: 'file', mode, hash: held };
  if (kind === 'l') return { kind: 'link', target: held };
  if (kind === 'd') return { kind: 'folder', mode, hash: held };
  return { kind: 'left', isUnreadable: kind === 'u' };
}
