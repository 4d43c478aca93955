import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { boundedTree, type TreeNode, treeText } from './accessibility-tree.ts';

const node = (nodeId: string, role: string, name: string, more: Partial<TreeNode> = {}): TreeNode => ({
  ...{ nodeId, ignored: false, browsergym_id: null, role: { value: role }, name: { value: name } },
  ...more,
});

it('RT145: a line for each node that says something, indented by depth', () => {
  const nodes = [
    node('1', 'RootWebArea', 'Shop', { childIds: ['2', '3', '9'], properties: [{ name: 'focusable', value: { value: true } }] }),
    node('2', 'generic', '', { childIds: ['4'], browsergym_id: '2' }),
    node('4', 'link', "Ann's", { browsergym_id: 'a4', childIds: ['5'] }),
    node('5', 'StaticText', "Ann's", { childIds: ['6'] }),
    node('6', 'InlineTextBox', "Ann's"),
    node('3', 'textbox', 'Say "it\'s"\n now', {
      ...{ browsergym_id: '7', value: { value: 'x' } },
      properties: [
        { name: 'required', value: { value: true } },
        { name: 'disabled', value: { value: false } },
        { name: 'checked', value: { value: 'mixed' } },
      ],
    }),
  ];
  expect(treeText(nodes, new Set(['a4']), 10_000)).toEqual({
    text: [
      "RootWebArea 'Shop'",
      '\t[a4] link "Ann\'s", clickable',
      `\t[7] textbox 'Say "it\\'s" now' value='x', required, checked='mixed'`,
    ].join('\n'),
    left: 0,
  });
});

it('RT145, RT159: whatever the nodes, circles too, the text ends within its bound and counts what it left out', () => {
  const id = fc.integer({ min: 0, max: 12 }).map(String);
  const any = fc.record({
    nodeId: id,
    childIds: fc.array(id, { maxLength: 4 }),
    name: fc.string(),
    role: fc.constantFrom('link', 'generic', 'StaticText'),
  });
  fc.assert(
    fc.property(fc.array(any, { maxLength: 12 }), fc.integer({ min: 0, max: 300 }), (all, maxChars) => {
      const nodes = all.map(({ nodeId, childIds, name, role }) => node(nodeId, role, name, { childIds, browsergym_id: nodeId }));
      const { text, left } = treeText(nodes, new Set(), maxChars);
      expect(text.length).toBeLessThanOrEqual(maxChars);
      expect(left).toBeLessThanOrEqual(nodes.length);
    }),
  );
});

/** Each node hangs on one before it. */
const trees = fc.array(fc.nat(), { minLength: 1, maxLength: 60 }).map((numbers) => {
  const parents = numbers.map((number, index) => (index === 0 ? -1 : number % index));
  return parents.map((_, index): TreeNode => {
    const childIds = parents.flatMap((parent, child) => (parent === index ? [`:${child}`] : []));
    return { nodeId: `:${index}`, ignored: false, browsergym_id: null, ...(childIds.length > 0 && { childIds }) };
  });
});

it('RT146: a tree that is too large is sent from the top as far as it fits, and is a tree', () => {
  fc.assert(
    fc.property(trees, fc.integer({ min: 60, max: 8000 }), (nodes, max) => {
      const sent = boundedTree(nodes, max);
      const ids = new Set(sent.nodes.map(({ nodeId }) => nodeId));
      expect(sent.nodes.length + (sent.nodes_left_out ?? 0)).toBe(nodes.length);
      expect(JSON.stringify(sent).length).toBeLessThanOrEqual(max);
      for (const { childIds = [] } of sent.nodes) for (const id of childIds) expect(ids).toContain(id);
      const named = new Set(sent.nodes.flatMap(({ childIds = [] }) => childIds));
      expect(sent.nodes.slice(1).every(({ nodeId }) => named.has(nodeId))).toBe(true);
      expect(sent.nodes_left_out === undefined || JSON.stringify({ nodes }).length > max - 30).toBe(true);
    }),
  );
});
