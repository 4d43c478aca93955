import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { findIncarnations } from './process-identity.ts';

const NAME = '5b601c0ffee00001';
const OTHERS = Array.from({ length: 9 }, (_, n) => `5b601c0ffee1000${n}`);

it.each([0, 60_000, 120_000])('SB601: a name behind %i characters of a command line or an environment is found', async (length) => {
  const filler = 'x'.repeat(length);
  const child = spawn('sleep', ['600'], { argv0: `${filler}${NAME}`, env: { FILLER: filler, MARK: NAME }, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  for (const names of [[NAME], [...OTHERS, NAME]]) {
    expect(await findIncarnations(names, 'cmdline')).toEqual([child.pid]);
    expect(await findIncarnations(names, 'environ', 'MARK=')).toEqual([child.pid]);
  }
  expect(await findIncarnations(OTHERS, 'environ')).toEqual([]);
  expect(await findIncarnations([NAME], 'environ', 'OTHER=')).toEqual([]);
});
