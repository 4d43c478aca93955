import type { TreeNode } from './read-tree.ts';

/** An accessibility tree as an observation carries it. */
export interface BoundedTree {
  readonly nodes: readonly TreeNode[];
  /** How many came after these; absent where these are all. */
  readonly nodes_left_out?: number;
}

/**
 * As many nodes from the top as fit, which is a tree as well: none names a child that is not there, and a parent comes before its
 * children.
 */
export function boundedTree(nodes: readonly TreeNode[], maxChars: number): BoundedTree {
  let chars = JSON.stringify({ nodes: [], nodes_left_out: nodes.length }).length;
  const count = nodes.findIndex((node) => (chars += JSON.stringify(node).length + 1) > maxChars);
  if (count < 0) return { nodes };
  const kept = topOf(nodes, count);
  const ids = new Set(kept.map(({ nodeId }) => nodeId));
  const withoutLost = kept.map((node) => (node.childIds ? { ...node, childIds: node.childIds.filter((id) => ids.has(id)) } : node));
  return { nodes: withoutLost, nodes_left_out: nodes.length - kept.length };
}

/** The first of them that hang together with the first one: what hangs on a node that is left out is left out too. */
function topOf(nodes: readonly TreeNode[], count: number): readonly TreeNode[] {
  const named = new Set<string>();
  return nodes.slice(0, count).filter(({ nodeId, childIds = [] }, index) => {
    if (index > 0 && !named.has(nodeId)) return false;
    for (const id of childIds) named.add(id);
    return true;
  });
}
