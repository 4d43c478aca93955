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
  const top = topOf(nodes, count);
  const ids = new Set(top.map(({ nodeId }) => nodeId));
  const withoutLost = top.map((node) => (node.childIds ? { ...node, childIds: node.childIds.filter((id) => ids.has(id)) } : node));
  return { nodes: withoutLost, nodes_left_out: nodes.length - top.length };
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

const SILENT_ROLES = new Set(['InlineTextBox', 'none', 'LineBreak', 'ListMarker']);
const SILENT_PROPERTIES = new Set([
  'editable',
  'readonly',
  'level',
  'settable',
  'multiline',
  'invalid',
  'focusable',
  'hasPopup',
  'live',
  'relevant',
  'labelledby',
  'describedby',
  'controls',
  'actions',
]);
const FLAGS = new Set(['required', 'focused', 'atomic', 'modal', 'busy', 'disabled', 'multiselectable']);
const MAX_DEPTH = 200;

export interface TreeText {
  readonly text: string;
  /** Nodes that would have been shown, had there been place. */
  readonly left: number;
}

/** The tree in BrowserGym's form: a line for each node, indented by its depth, `[id] role 'name' value='…', properties`. */
export function treeText(nodes: readonly TreeNode[], clickable: ReadonlySet<string>, maxChars: number): TreeText {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const seen = new Set<string>(); // what comes from a page may be no tree
  const lines: string[] = [];
  let space = maxChars;
  let left = 0;

  function write(node: TreeNode | undefined, depth: number, parentName: string): void {
    if (node === undefined || seen.has(node.nodeId) || depth > MAX_DEPTH) return;
    seen.add(node.nodeId);
    const line = lineOf(node, clickable, parentName);
    const name = line === undefined ? parentName : `${nameOf(node)} ${String(node.value?.value ?? '')}`;
    if (line !== undefined) {
      const whole = '\t'.repeat(Math.min(depth, 40)) + line;
      space -= whole.length + 1;
      if (space >= 0 && left === 0) lines.push(whole);
      else left += 1;
    }
    for (const child of node.childIds ?? []) write(byId.get(child), line === undefined ? depth : depth + 1, name);
  }

  write(nodes[0], 0, '');
  return { text: lines.join('\n'), left };
}

/** `undefined` for what only holds other nodes. */
function lineOf(node: TreeNode, clickable: ReadonlySet<string>, parentName: string): string | undefined {
  const role = String(node.role?.value ?? '');
  if (node.ignored || SILENT_ROLES.has(role)) return undefined;
  const name = nameOf(node);
  if (role === 'StaticText' && (name === '' || parentName.includes(name))) return undefined;
  const bid = role === 'StaticText' ? null : node.browsergym_id;
  const traits = [...(bid !== null && clickable.has(bid) ? ['clickable'] : []), ...propertiesOf(node)];
  if (role === 'generic' && name === '' && traits.length === 0) return undefined;
  const value = node.value?.value === undefined ? '' : ` value=${quoted(node.value.value)}`;
  return [`${bid === null || bid === '' ? '' : `[${bid}] `}${role} ${quoted(name)}${value}`, ...traits].join(', ');
}

function propertiesOf({ properties = [] }: TreeNode): readonly string[] {
  return properties.flatMap(({ name, value: { value } }) => {
    if (SILENT_PROPERTIES.has(name) || value === undefined || value === '') return [];
    if (FLAGS.has(name)) return value === true ? [name] : [];
    return [`${name}=${quoted(value)}`];
  });
}

function nameOf({ name }: TreeNode): string {
  return typeof name?.value === 'string' ? name.value.trim().replaceAll(/\s+/g, ' ') : '';
}

/** As Python prints it. */
function quoted(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'None';
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return value.includes("'") && !value.includes('"') ? `"${escaped}"` : `'${escaped.replaceAll("'", "\\'")}'`;
}
