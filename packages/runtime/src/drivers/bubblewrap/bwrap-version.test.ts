import { expect, it } from 'vitest';
import { readBwrapVersion } from './bwrap-version.ts';

it.each([
  ['bubblewrap 0.4.1', false, false],
  ['bubblewrap 0.6.1\n', true, false],
  ['bubblewrap 0.8.0', true, true],
  ['bubblewrap 0.11.0', true, true],
  ['bubblewrap 1.0', true, true],
  ['something else', false, false],
])('SB1: knows what %j can do', (output, isRecent, hasSizes) => {
  expect(readBwrapVersion(output)).toMatchObject({ isRecent, hasSizes });
});
