/** Half-open ranges of a text. */
export type Range = readonly [from: number, to: number];

export interface Found {
  readonly ranges: readonly Range[];
  /** Where the longest end of the text begins that could be the beginning of a pattern; the text's length when none is. */
  readonly openFrom: number;
}

/** Node of the tree of all patterns: most have one child, few have many. */
interface Tree {
  readonly character: number[];
  readonly child: number[];
  readonly more: (Map<number, number> | undefined)[];
  readonly depth: number[];
  /** Length of the longest pattern that ends here, 0 for none; what ends here through `fallback` too. */
  readonly length: number[];
  readonly fallback: number[];
}

/**
 * Finds every pattern in one pass, however many there are (Aho and Corasick): time grows with the text, not with the patterns.
 * With `skipsBreaks` line breaks in the text count as if they were not there.
 */
export function createPatternFinder(patterns: readonly string[], skipsBreaks: boolean): (text: string) => Found {
  const tree: Tree = { character: [-1], child: [0], more: [undefined], depth: [0], length: [0], fallback: [0] };
  for (const pattern of patterns) add(tree, pattern);
  link(tree);
  // Most characters of most texts begin nothing.
  const begins = new Uint8Array(0x10000);
  for (const [character] of childrenOf(tree, 0)) begins[character] = 1;
  return (text) => {
    const ranges: Range[] = [];
    let node = 0;
    for (let at = 0; at < text.length; at++) {
      const character = text.charCodeAt(at);
      if (node === 0 && begins[character] === 0) continue;
      if (skipsBreaks && node !== 0 && isBreak(character)) continue;
      node = step(tree, node, character);
      const length = tree.length[node]!;
      if (length > 0) ranges.push([backFrom(text, at + 1, length, skipsBreaks), at + 1]);
    }
    return { ranges, openFrom: node === 0 ? text.length : backFrom(text, text.length, tree.depth[node]!, skipsBreaks) };
  };
}

function add(tree: Tree, pattern: string): void {
  let node = 0;
  for (let at = 0; at < pattern.length; at++) node = next(tree, node, pattern.charCodeAt(at)) ?? grow(tree, node, pattern.charCodeAt(at));
  tree.length[node] = pattern.length;
}

function grow(tree: Tree, node: number, character: number): number {
  const made = tree.child.length;
  if (tree.character[node] === -1) {
    tree.character[node] = character;
    tree.child[node] = made;
  } else (tree.more[node] ??= new Map()).set(character, made);
  tree.character.push(-1);
  tree.child.push(0);
  tree.more.push(undefined);
  tree.depth.push(tree.depth[node]! + 1);
  tree.length.push(0);
  tree.fallback.push(0);
  return made;
}

function next(tree: Tree, node: number, character: number): number | undefined {
  return tree.character[node] === character ? tree.child[node] : tree.more[node]?.get(character);
}

function step(tree: Tree, from: number, character: number): number {
  for (let node = from; ; node = tree.fallback[node]!) {
    const found = next(tree, node, character);
    if (found !== undefined || node === 0) return found ?? 0;
  }
}

/** Breadth first: a fallback is always nearer to the root. */
function link(tree: Tree): void {
  let level: number[] = [0];
  while (level.length > 0) {
    const below: number[] = [];
    for (const node of level) {
      for (const [character, child] of childrenOf(tree, node)) {
        const fallback = node === 0 ? 0 : step(tree, tree.fallback[node]!, character);
        tree.fallback[child] = fallback;
        tree.length[child] = tree.length[child]! || tree.length[fallback]!;
        below.push(child);
      }
    }
    level = below;
  }
}

function childrenOf(tree: Tree, node: number): readonly (readonly [number, number])[] {
  const first = tree.character[node] === -1 ? [] : [[tree.character[node]!, tree.child[node]!] as const];
  return [...first, ...(tree.more[node] ?? [])];
}

function isBreak(character: number): boolean {
  return character === 10 || character === 13;
}

/** Where the `count` characters before `end` begin. */
function backFrom(text: string, end: number, count: number, skipsBreaks: boolean): number {
  if (!skipsBreaks) return end - count;
  let at = end;
  for (let left = count; left > 0;) if (!isBreak(text.charCodeAt(--at))) left -= 1;
  return at;
}
