import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { restore, store } from './engine-snapshot.ts';

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(undefined, null, Infinity, -Infinity, NaN, '', '$is', '\ud83d'),
    fc.oneof(fc.integer(), fc.string(), fc.boolean()),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(tie('value'), { maxLength: 4 }).map((all) => new Set(all)),
    fc.array(fc.tuple(fc.oneof(fc.string(), fc.integer()), tie('value')), { maxLength: 4 }).map((all) => new Map(all)),
    fc.dictionary(fc.oneof(fc.constantFrom('$is', 'of', '__proto__'), fc.string()), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
}));

it('EN199: the values of a fold are read as they were stored', () => {
  fc.assert(
    fc.property(value, (any) => {
      expect(restore(store(any as string))).toStrictEqual(any);
    }),
    { numRuns: 500 },
  );
});

it('EN199: text that was not stored by it is refused', () => {
  for (const text of ['', '{', '{"$is":"toString","of":[]}', '{"$is":"made up"}', '{"$is":"set"}'])
    expect(() => restore(text)).toThrow(Error);
});

it('EN199: a value that cannot be stored does not compile', () => {
  // @ts-expect-error a function
  expect(() => store({ shown: new Set(['a']), later: () => 1 })).not.toThrow();
  // @ts-expect-error a symbol inside a map
  expect(() => store(new Map([['a', { deep: Symbol('s') }]]))).not.toThrow();
  expect(() => store({ shown: new Set(['a']), limit: Infinity, requested: undefined })).not.toThrow();
});
