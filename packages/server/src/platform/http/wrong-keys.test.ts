import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import { testServer } from '../../server.test-support.ts';
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

it('SV301: the log has one line a second for an address, this machine too, which is not limited otherwise', () => {
  const { wrongKeys, guess, after } = setUp();
  expect(guess('10.0.0.1', 5).filter(Boolean)).toHaveLength(1);
  after(1_000);
  expect(guess('10.0.0.1', 5).filter(Boolean)).toHaveLength(1);
  expect(guess('127.0.0.1', 100).filter(Boolean)).toHaveLength(1);
  expect(wrongKeys.secondsToWait('127.0.0.1', 'owner')).toBeUndefined();
});

/** Of this machine and no loopback one: what comes from it is limited. */
const OUTSIDE = Object.values(networkInterfaces())
  .flat()
  .find((one) => one && !one.internal && one.family === 'IPv4')?.address;

it.runIf(OUTSIDE)(
  'SV301: whatever is asked with them, and where from: guesses cannot distinguish the right key from a wrong one',
  async () => {
    const lines: string[] = [];
    const key = 'the-key-of-the-owner';
    const clock = { now: () => new Date(0), sleep: () => new Promise<void>(() => undefined) };
    const server = await testServer({ sessionApiKey: key, env: { HOST: '0.0.0.0' }, clock, log: (line) => lines.push(line) });
    const { port } = new URL(server.url);
    const ask = async (host: string, path: string, given: string) =>
      (await fetch(`http://${host}:${port}${path}`, { headers: { 'x-session-api-key': given } })).status;
    const paths = ['/api/conversations', '/api/settings', '/metrics', '/api/nothing'];
    const statuses: number[] = [];
    for (let n = 0; n < 40; n += 1) statuses.push(await ask(OUTSIDE!, paths[n % paths.length]!, `guess-number-${n}-of-many`));
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(15);
    expect(statuses.slice(-8)).toEqual(Array.from({ length: 8 }, () => 429));
    expect(await ask(OUTSIDE!, '/api/conversations', key)).toBe(429);
    expect(await ask('127.0.0.1', '/api/conversations', key)).toBe(200);
    expect(lines.filter((line) => line.includes('a wrong key was refused'))).toHaveLength(1);
  },
);
