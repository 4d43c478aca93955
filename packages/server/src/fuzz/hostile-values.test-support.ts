import { anyCharacter } from '@tendon/testing';
import * as fc from 'fast-check';

/** Every suite draws from it, so that a failure comes again. */
export const SEED = 20_261_121;

/** What has broken servers before. */
export const HOSTILE_TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '../../../../etc/passwd',
  '/etc/passwd',
  '..\\..\\x',
  '%00',
  '%2e%2e%2f',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'null',
  'undefined',
  'NaN',
  '-1',
  '1e400',
  '9007199254740993',
  "'; DROP TABLE events; --",
  '${7*7}{{7*7}}',
  '\r\nSet-Cookie: x=y',
  'x'.repeat(70_000),
  '[object Object]',
  '2026-13-45T99:99:99Z',
  'https://127.0.0.1:1/',
] as const;

export const hostileText = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: anyCharacter }), fc.string());

const deep = fc.integer({ min: 100, max: 3_000 }).map((depth) => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { a: value };
  return value;
});

const polluting = fc.constantFrom('__proto__', 'constructor', 'prototype').map((key) => {
  const value = { polluted: true, prototype: { polluted: true } };
  return Object.defineProperty({}, key, { value, enumerable: true }) as unknown;
});

/** Any JSON, and now and then what was made to hurt. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 4, arbitrary: hostileText },
  { weight: 1, arbitrary: deep },
  { weight: 1, arbitrary: polluting },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(-1, 0, 1e308, -0, 2 ** 53, true, null, [], {}, [[]], [null]) },
);
