import { expect, it } from 'vitest';
import { comparableText } from './replay-steps.ts';

const same = (a: string, b: string): boolean => comparableText(a, '/tmp/home-1/work') === comparableText(b, '/tmp/home-1/work');

it.each([
  ['at 2024-05-01T10:00:00.123Z it', 'at 2026-11-21 17:55:18+00:00 it'],
  ['-rw-r--r-- 1 a a 3 Nov 21 17:55 x', '-rw-r--r-- 1 a a 3 May  1  2024 x'],
  ['Sat Nov 21 17:55:18 UTC 2026', 'Wed May  1 09:00:00 CET 2024'],
  ['3 passed in 0.05s', '3 passed in 12.1s'],
  ['real\t0m0.003s', 'real\t1m2.500s'],
  ['[1] 4711', '[1] 12'],
  ['server (pid 4711) is up', 'server (pid 12) is up'],
  ['made /tmp/tmp.a8Kd92mQxP', 'made /tmp/tmp.Zk2901mmQq'],
  ['/workspace/a.txt\r\n', '/tmp/home-1/work/a.txt'],
])('TJ16: %j and %j are the same', (a, b) => expect(same(a, b)).toBe(true));

it.each([
  ['3 passed', '4 passed'],
  ['made /tmp/report', 'made /tmp/answer'],
  ['port 8000', 'port 8001'],
  ['wait 5s', 'wait 6s'],
  [' a', 'a'],
])('TJ16: %j and %j are not', (a, b) => expect(same(a, b)).toBe(false));
