import * as fc from 'fast-check';
import { runs } from '@tendon/testing';
import { expect, it } from 'vitest';
import { isTimeZone, nextTick, parseCron, type Cron } from './cron.ts';

function cronOf(text: string): Cron {
  const parsed = parseCron(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.cron;
}

function ticks(text: string, timeZone: string, from: string, count: number): readonly string[] {
  const found: string[] = [];
  for (let at = new Date(from); found.length < count;) {
    at = nextTick(cronOf(text), timeZone, at)!;
    found.push(at.toISOString().replace(':00.000Z', 'Z'));
  }
  return found;
}

it.each<[string, string, string, readonly string[]]>([
  ['*/20 9-10 * * *', 'UTC', '2026-01-01T09:30:00Z', ['2026-01-01T09:40Z', '2026-01-01T10:00Z', '2026-01-01T10:20Z']],
  ['0 9 * * mon-fri', 'UTC', '2026-01-02T09:00:00Z', ['2026-01-05T09:00Z', '2026-01-06T09:00Z']],
  ['30 4 1,15 * 5', 'UTC', '2026-01-02T05:00:00Z', ['2026-01-09T04:30Z', '2026-01-15T04:30Z', '2026-01-16T04:30Z']],
  ['0 0 29 feb *', 'UTC', '2096-03-01T00:00:00Z', ['2104-02-29T00:00Z']],
  ['0 0 * * 7', 'UTC', '2026-01-01T00:00:00Z', ['2026-01-04T00:00Z']],
  ['@daily', 'Asia/Kathmandu', '2026-01-01T00:00:00Z', ['2026-01-01T18:15Z', '2026-01-02T18:15Z']],
  // Clocks in Berlin go from 02:00 to 03:00 on 29 March 2026, and from 03:00 to 02:00 on 25 October.
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T02:00:00Z', ['2026-03-29T01:30Z', '2026-03-30T00:30Z']],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', ['2026-10-25T00:30Z', '2026-10-26T01:30Z']],
  ['0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z', ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z']],
  ['0 * * * *', 'Europe/Berlin', '2026-03-29T00:30:00Z', ['2026-03-29T01:00Z', '2026-03-29T02:00Z']],
])('TG901: %s in %s after %s', (text, zone, from, expected) => {
  expect(ticks(text, zone, from, expected.length)).toEqual(expected);
});

it.each([
  '',
  '* * * *',
  '60 * * * *',
  '* 24 * * *',
  '0 0 30 2 *',
  '5-1 * * * *',
  '*/0 * * * *',
  'a * * * *',
  '*-5 * * * *',
  '1,,2 * * * *',
])('TG901: "%s" is refused in words', (text) => {
  expect(parseCron(text)).toMatchObject({ ok: false, problem: expect.stringMatching(/\w+ \w+/) as string });
});

it('TG901: only names of time zones are one', () => {
  expect(['UTC', 'America/New_York', 'nowhere', ''].map(isTimeZone)).toEqual([true, true, false, false]);
});

const EXPRESSIONS = ['*/7 * * * *', '15 */5 * * *', '30 2 * * *', '0 0 * * 1', '0 3 1 * *', '59 23 31 12 *'];
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca', 'Pacific/Apia'];

it('TG901: the next tick is after its moment, and none lies between', () => {
  const moment = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) });
  const property = fc.property(fc.constantFrom(...EXPRESSIONS), fc.constantFrom(...ZONES), moment, (text, zone, at) => {
    const cron = cronOf(text);
    const next = nextTick(cron, zone, new Date(at))!.getTime();
    expect(next).toBeGreaterThan(at);
    expect(next % 60_000).toBe(0);
    for (const between of [at + (next - at) / 3, next - 1]) {
      expect(nextTick(cron, zone, new Date(Math.floor(between)))!.getTime()).toBe(next);
    }
  });
  fc.assert(property, { numRuns: runs(200), seed: 12 });
});
