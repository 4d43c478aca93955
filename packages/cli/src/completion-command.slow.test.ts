import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { makePlace, tendon } from './tendon-child.test-support.ts';

it('CL967: commands, those below them, and options are completed', async () => {
  const place = makePlace();
  const { stdout: script } = await tendon(place, ['completion', 'bash']);
  const complete = (...words: string[]): string => {
    const list = ['tendon', ...words].map((word) => `'${word}'`).join(' ');
    const ask = `${script}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length}; _tendon; echo "\${COMPREPLY[*]}"`;
    return execFileSync('bash', ['-c', ask], { encoding: 'utf8' }).trim();
  };
  expect(complete('exp')).toBe('export');
  expect(complete('ls', '--h')).toBe('--here --home');
  expect(complete('mcp', 'log')).toBe('login logout');
  expect((await tendon(place, ['completion', 'zsh'])).stdout).toContain('export');
  const fish = (await tendon(place, ['completion', 'fish'])).stdout;
  expect(fish).toContain("'__fish_seen_subcommand_from mcp; and __fish_seen_subcommand_from login' -l ");
  expect(fish).toMatch(/'__fish_seen_subcommand_from mcp; and not __fish_seen_subcommand_from [a-z ]*login[a-z ]*' -a login/);
});
