import { expect, it } from 'vitest';
import { WrongKeys } from './wrong-keys.ts';

function setUp() {
  let ms = 0;
  const wrongKeys = new WrongKeys({ now: () => new Date(ms) });
  const guess = (address: string, times: number) => Array.from({ length: times }, () => wrongKeys.wrong(address));
  return { wrongKeys, guess, after: (more: number) => (ms += more) };
}

it('SV301: an address that tries wrong keys may present no new one for a while, not even the right one', () => {
  const { wrongKeys, guess, after } = setUp();
  guess('10.0.0.1', 20);
  expect(wrongKeys.secondsToWait('10.0.0.1', undefined)).toBeUndefined();
  guess('10.0.0.1', 1);
  expect(wrongKeys.secondsToWait('10.0.0.1', undefined)).toBeGreaterThan(0);
  expect(wrongKeys.secondsToWait('10.0.0.1', 'owner')).toBeGreaterThan(0);
  expect(wrongKeys.secondsToWait('10.0.0.2', 'owner')).toBeUndefined();
  after(6_000);
  expect(wrongKeys.secondsToWait('10.0.0.1', 'owner')).toBeUndefined();
});

it('SV301: keys that were accepted from there before still work', () => {
  const { wrongKeys, guess } = setUp();
  expect(wrongKeys.secondsToWait('10.0.0.1', 'owner')).toBeUndefined();
  guess('10.0.0.1', 30);
  expect(wrongKeys.secondsToWait('10.0.0.1', 'owner')).toBeUndefined();
  expect(wrongKeys.secondsToWait('10.0.0.1', 'key other')).toBeGreaterThan(0);
});

it('SV301: the log has one line a second for an address, and this machine is not limited', () => {
  const { wrongKeys, guess, after } = setUp();
  expect(guess('10.0.0.1', 5).filter(Boolean)).toHaveLength(1);
  after(1_000);
  expect(guess('10.0.0.1', 5).filter(Boolean)).toHaveLength(1);
  guess('127.0.0.1', 100);
  expect(wrongKeys.secondsToWait('127.0.0.1', 'owner')).toBeUndefined();
});
