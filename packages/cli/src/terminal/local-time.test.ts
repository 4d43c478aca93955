import { expect, it, onTestFinished } from 'vitest';
import { localTime } from './local-time.ts';

it('CL966: a person reads times of where they are', () => {
  const { TZ } = process.env;
  onTestFinished(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
  process.env.TZ = 'Asia/Tokyo';
  expect(localTime('2026-11-28T21:01:59.000Z')).toBe('2026-11-29 06:01');
  process.env.TZ = 'America/New_York';
  expect(localTime('2026-01-02T03:04:05.000Z')).toBe('2026-01-01 22:04');
});
