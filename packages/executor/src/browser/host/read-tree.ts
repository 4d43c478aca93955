import type { Documents, PageDocument } from './read-documents.ts';

/** A node of the accessibility tree, as Chromium gives it, with the id of its element. */
export interface TreeNode {
  readonly nodeId: string;
  readonly ignored: boolean;
  readonly role?: { readonly value?: unknown };
  readonly name?: { readonly value?: unknown };
  readonly value?: { readonly value?: unknown };
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value?: unknown } }[];
  readonly childIds?: readonly string[];
  readonly backendDOMNodeId?: number;
  readonly browsergym_id: string | null;
}

/** The nodes of all documents; ids of nodes are unique over them, and a frame's node has its document's root as a child. */
export async function readTree({ byPrefix }: Documents): Promise<readonly TreeNode[]> {
  const trees = new Map<string, readonly TreeNode[]>();
  for (const [prefix, document] of byPrefix) {
    const nodes = await nodesOf(document, prefix).catch(() => []); // a frame that went meanwhile
    if (nodes.length > 0) trees.set(prefix, nodes);
  }
  const roots = new Map([...trees].map(([prefix, nodes]) => [prefix, nodes[0]!.nodeId]));
  return [...trees.values()].flat().map((node) => {
    const root = node.browsergym_id === null || node.browsergym_id === '' ? undefined : roots.get(node.browsergym_id);
    return root === undefined ? node : { ...node, childIds: [root] };
  });
}

async function nodesOf({ session, frameId, bidOf }: PageDocument, prefix: string): Promise<readonly TreeNode[]> {
  const { nodes } = await session.send('Accessibility.getFullAXTree', { frameId });
  const idOf = (id: string): string => `${prefix}:${id}`;
  return nodes.map(({ nodeId, ignored, role, name, value, properties, childIds, backendDOMNodeId }) => ({
    nodeId: idOf(nodeId),
    ignored,
    ...(role && { role: { value: role.value as unknown } }),
    ...(name && { name: { value: name.value as unknown } }),
    ...(value && { value: { value: value.value as unknown } }),
    ...(properties && {
      properties: properties.map((property) => ({ name: property.name, value: { value: property.value.value as unknown } })),
    }),
    ...(childIds && { childIds: childIds.map(idOf) }),
    ...(backendDOMNodeId !== undefined && { backendDOMNodeId }),
    browsergym_id: backendDOMNodeId === undefined ? null : (bidOf.get(backendDOMNodeId) ?? null),
  }));
}
