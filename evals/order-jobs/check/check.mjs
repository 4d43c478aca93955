import assert from 'node:assert';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { orderOf } = await import(pathToFileURL(join(process.cwd(), 'order.mjs')));
assert.deepEqual(orderOf({}), []);
assert.deepEqual(orderOf({ c: [], b: [], a: ['c'] }), ['b', 'c', 'a']);
assert.deepEqual(orderOf({ test: ['build'], build: ['lint', 'fetch'], lint: ['fetch'], fetch: [], docs: [] }), ['docs', 'fetch', 'lint', 'build', 'test']);
assert.throws(() => orderOf({ b: ['c'], c: ['a'], a: ['b'], z: [] }), /a -> b -> c -> a/);
assert.throws(() => orderOf({ x: ['x'] }), /x -> x/);
assert.throws(() => orderOf({ a: ['nothing'] }), /nothing/);
