import { expect, it } from 'vitest';
import { keyFor } from './command-runner.ts';

it.each([
  ['C-c', '\u0003'],
  [' C-D ', '\u0004'],
  ['C-[', '\u001b'],
  ['Escape', '\u001b'],
  ['Enter', '\r'],
  ['Up', '\u001b[A'],
  ['PageDown', '\u001b[6~'],
])('RT39: %j is a key', (name, characters) => {
  expect(keyFor(name)).toBe(characters);
});

it.each(['Enter\n', 'up', 'C-cc', 'go Up', 'toString', ''])('RT39: %j is text', (text) => {
  expect(keyFor(text)).toBeUndefined();
});
