import { expect, it } from 'vitest';
import { durationSeconds } from './keys-command.ts';

it('SV70: durations are minutes, hours or days, up to a year', () => {
  expect(['1m', '12h', '30d', '366d'].map(durationSeconds)).toEqual([60, 43_200, 2_592_000, 31_622_400]);
  expect(['', '0m', '5', '-1d', '1w', '367d', '1.5h', 'd'].map(durationSeconds)).toEqual(Array.from({ length: 8 }));
});
