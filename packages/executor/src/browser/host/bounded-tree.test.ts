import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { boundedTree } from './bounded-tree.ts';
import type { TreeNode } from './read-tree.ts';

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
