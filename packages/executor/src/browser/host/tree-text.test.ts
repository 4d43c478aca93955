import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TreeNode } from './read-tree.ts';
import { treeText } from './tree-text.ts';

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
