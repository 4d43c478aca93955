import type { TreeNode } from './read-tree.ts';

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
  let room = maxChars;
  let left = 0;

  function write(node: TreeNode | undefined, depth: number, parentName: string): void {
    if (node === undefined || seen.has(node.nodeId) || depth > MAX_DEPTH) return;
    seen.add(node.nodeId);
    const line = lineOf(node, clickable, parentName);
    const name = line === undefined ? parentName : `${nameOf(node)} ${String(node.value?.value ?? '')}`;
    if (line !== undefined) {
      const whole = '\t'.repeat(Math.min(depth, 40)) + line;
      room -= whole.length + 1;
      if (room >= 0 && left === 0) lines.push(whole);
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
