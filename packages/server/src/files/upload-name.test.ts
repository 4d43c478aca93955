import { expect, it } from 'vitest';
import { uploadNameFault } from './take-upload.ts';

it.each(['a.txt', 'dir/b.txt', '.hidden', '漢字.md', 'with space', '-rf', '__proto__', 'a..b', '...'])('SV27: %j is a name', (name) => {
  expect(uploadNameFault(name)).toBeUndefined();
});

it.each([
  '',
  '.',
  '..',
  '../x',
  'a/../x',
  '/etc/passwd',
  'a//b',
  'a/',
  'a\0b',
  'a\nb',
  'C:\\x',
  '..\\x',
  'x'.repeat(256),
  'é'.repeat(128),
  'd/'.repeat(2_100) + 'x',
])('SV27: %j is none', (name) => {
  expect(uploadNameFault(name)).toEqual(expect.any(String));
});
