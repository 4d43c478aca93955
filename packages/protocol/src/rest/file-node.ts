import { z } from 'zod';

export interface DirectoryNode {
  readonly path: string;
  readonly name: string;
  readonly type: 'directory';
  readonly children: readonly FileNode[];
}
export interface LeafNode {
  readonly path: string;
  readonly name: string;
  readonly type: 'file';
  /** Bytes; absent when unknown. */
  readonly size?: number;
}
/** The tree of the Mac client's addendum. */
export type FileNode = DirectoryNode | LeafNode;

export const FileNode: z.ZodType<FileNode> = z.lazy(() =>
  z.union([
    z.object({ path: z.string(), name: z.string(), type: z.literal('directory'), children: z.array(FileNode) }),
    z.object({ path: z.string(), name: z.string(), type: z.literal('file'), size: z.number().int().nonnegative().optional() }),
  ]),
);

/** A file or folder of a flat listing; folders end in `/`. */
export interface ListedPath {
  readonly path: string;
  readonly size?: number;
}

interface Building {
  readonly children: Map<string, Building>;
  isDirectory: boolean;
  size?: number;
}

/**
 * The tree over a flat list of paths (as `list-files` gives them, recursively), rooted at `root`.
 * Missing parents are made; folders come first, then by name. Paths outside the root (`..`) are left out.
 */
export function toFileTree(root: string, entries: Iterable<string | ListedPath>): DirectoryNode {
  const top: Building = { children: new Map(), isDirectory: true };
  for (const entry of entries) {
    const { path, size } = typeof entry === 'string' ? { path: entry, size: undefined } : entry;
    const parts = partsBelow(root, path);
    if (parts) insert(top, parts, path.endsWith('/'), size);
  }
  const path = root.replace(/\/+$/, '') || '/';
  return finish(path, path.split('/').at(-1) || '/', top);
}

/** Of Linux; bounds the depth of the tree. */
const MAX_PATH_LENGTH = 4096;

function partsBelow(root: string, path: string): string[] | undefined {
  if (path.length > MAX_PATH_LENGTH || path === root) return undefined;
  const prefix = root.endsWith('/') ? root : `${root}/`;
  const parts = (path.startsWith(prefix) ? path.slice(prefix.length) : path).split('/').filter((part) => part !== '' && part !== '.');
  const isOutside = parts.includes('..') || (path.startsWith('/') && !path.startsWith(prefix));
  return isOutside || parts.length === 0 ? undefined : parts;
}

function insert(top: Building, parts: readonly string[], isDirectory: boolean, size: number | undefined): void {
  let node = top;
  for (const part of parts) {
    node.isDirectory = true;
    const child = node.children.get(part) ?? { children: new Map(), isDirectory: false };
    node.children.set(part, child);
    node = child;
  }
  if (isDirectory) node.isDirectory = true;
  if (size !== undefined) node.size = size;
}

function finish(path: string, name: string, node: Building): DirectoryNode {
  const base = path === '/' ? '' : path;
  const children = [...node.children].map(([childName, child]): FileNode =>
    child.isDirectory
      ? finish(`${base}/${childName}`, childName, child)
      : { path: `${base}/${childName}`, name: childName, type: 'file', ...(child.size !== undefined && { size: child.size }) },
  );
  children.sort((a, b) => (a.type === b.type ? (a.name < b.name ? -1 : 1) : a.type === 'directory' ? -1 : 1));
  return { path, name, type: 'directory', children };
}
