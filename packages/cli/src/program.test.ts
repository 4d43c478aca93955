import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import packageJson from '../package.json' with { type: 'json' };
import { makePlace, tendon } from './tendon-child.test-support.ts';

describe('how it is used', () => {
  itInFull('prints its version and its help', async () => {
    const place = makePlace();
    expect(await tendon(place, ['--version'])).toEqual({ code: 0, stdout: `${packageJson.version}\n`, stderr: '' });
    for (const command of [[], ['serve'], ['run']]) {
      const { code, stdout, stderr } = await tendon(place, [...command, '--help']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(['Usage: tendon', ...command].join(' '));
    }
  });

  it.each([
    [[], 'Usage: tendon'],
    [['-p'], 'There is no task'],
    [['-p', '--budget', '-1', 'x'], 'above 0'],
    [['-p', '--approve', 'some', 'x'], 'Allowed choices are never, low, all'],
    [['nonsense'], 'nonsense'],
    [['run'], 'There is no task'],
    [['run', '--nonsense', 'x'], '--nonsense'],
    [['run', '  '], 'There is no task'],
    [['run', '-'], 'There is no task'],
    [['run', '--workspace', '/nowhere/at/all', 'x'], '/nowhere/at/all is not a folder'],
    [['run', '--runtime', 'magic', 'x'], 'RUNTIME'],
    [['serve', '--port', '123456'], 'PORT'],
    [['serve', 'more'], 'too many arguments'],
    [['conformance', 'no-address'], 'no-address is no http address'],
    [['conformance', 'http://127.0.0.1:1', '--level', 'v9'], 'there is no level v9'],
  ])('exits with 2 for %j', async (args, words) => {
    const { code, stdout, stderr } = await tendon(makePlace(), args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
  });

  it('is started by its launcher, from the source when nothing is built', () => {
    const launcher = join(import.meta.dirname, '../bin/tendon.mjs');
    expect(execFileSync(process.execPath, [launcher, '--version'], { encoding: 'utf8' })).toBe(`${packageJson.version}\n`);
  });
});
