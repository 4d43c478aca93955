import assert from 'node:assert';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { copyAll } = await import(pathToFileURL(join(process.cwd(), 'copy-all.mjs')));
let running = 0;
let most = 0;
const copied = [];
const copy = async (from, to) => {
  most = Math.max(most, ++running);
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  copied.push(`${from}>${to}`);
  running--;
};
const pairs = ['a', 'b', 'c', 'd', 'e'].map((name) => [name, name.toUpperCase()]);
assert.equal(await copyAll(pairs, copy), 5);
assert.deepEqual(copied.toSorted(), ['a>A', 'b>B', 'c>C', 'd>D', 'e>E']);
assert.equal(most, 2);
assert.equal(await copyAll([], copy), 0);
await assert.rejects(
  copyAll(pairs, async (from) => {
    if (from === 'c') throw new Error('no c');
  }),
  /no c/,
);
