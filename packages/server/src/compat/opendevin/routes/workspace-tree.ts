import type { WorkspaceFiles } from '@tendon/core';
import type { NamedTree } from '@tendon/protocol';
import { HIDDEN_ENTRIES } from '../../../files/shown-entries.ts';

const MAX_FOLDERS = 500;
const MAX_ENTRIES = 5_000;
const TIMEOUT_MS = 10_000;

/** The workspace as W1 shows it: names and children; folders without files are left out, and so is what is beyond the bounds. */
export async function workspaceTree(files: WorkspaceFiles): Promise<NamedTree> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let folders = MAX_FOLDERS;
  let entries = MAX_ENTRIES;
  async function childrenOf(path: string): Promise<NamedTree[]> {
    if (folders-- <= 0) return [];
    const children: NamedTree[] = [];
    for (const entry of await files.list(path, { signal })) {
      if (HIDDEN_ENTRIES.has(entry) || entries-- <= 0) continue;
      const name = entry.replace(/\/$/, '');
      const inner = entry.endsWith('/') ? await childrenOf(`${path}/${name}`) : [];
      if (!entry.endsWith('/') || inner.length > 0) children.push({ name, children: inner });
    }
    return children.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }
  return { name: 'workspace', children: await childrenOf('.') };
}
