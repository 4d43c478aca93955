import { chmodSync, existsSync, mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { itInFull } from '@tendon/testing';
import { createTestSandboxes, executorFolder, never } from '../../testing/sandboxes.ts';
import { findProgram } from '../../processes/launch.ts';
import { createLocalDriver } from './local-driver.ts';

let folder: string;
let trialFile: string;

/** The bubblewrap of this machine behind a script that notes each trial; `also` runs before it. */
function install(also = ''): void {
  const real = findProgram('bwrap', '');
  writeFileSync(
    join(folder, 'bwrap'),
    `#!/bin/sh\ncase "$*" in *" /dev true") echo trial >> ${folder}/log;; esac\n${also}\nexec ${real} "$@"\n`,
  );
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tendon-trial-'));
  trialFile = join(folder, 'sandbox-trial.json');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'log'), '');
  install();
  for (const [name, mode] of [
    ['.', 0o755],
    ['bwrap', 0o755],
    ['log', 0o666],
  ] as const)
    chmodSync(join(folder, name), mode);
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
});

const open = () => createLocalDriver({ executor: executorFolder(), trialFile });
const probe = () => open().probe();
const trials = (): number => readFileSync(join(folder, 'log'), 'utf8').split('\n').length - 1;

it('SB600: a later process need not try bubblewrap again', async () => {
  const first = await probe();
  expect(first).toMatchObject({ available: true });
  expect(await probe()).toEqual(first);
  expect(trials()).toBe(1);
});

it('SB600: another bubblewrap, another boot and a file of something else are tried again', async () => {
  await probe();
  utimesSync(join(folder, 'bwrap'), 1, 1);
  await probe();
  expect(trials()).toBe(2);
  const remembered = JSON.parse(readFileSync(trialFile, 'utf8')) as { readonly of: string };
  writeFileSync(trialFile, JSON.stringify({ ...remembered, of: 'another boot' }));
  await probe();
  writeFileSync(trialFile, '{');
  expect(await probe()).toMatchObject({ available: true });
  expect(trials()).toBe(4);
});

it('SB600: a failure is not remembered', async () => {
  await probe();
  install('echo "No permissions to create new namespace" >&2; exit 1');
  expect(await probe()).toMatchObject({ available: false });
  install();
  expect(await probe()).toMatchObject({ available: true });
});

itInFull('SB600: the start of a sandbox that fails takes it back', async () => {
  const driver = open();
  await driver.probe();
  expect(existsSync(trialFile)).toBe(true);
  const sandboxes = createTestSandboxes(driver);
  onTestFinished(() => sandboxes.close());
  install('exit 1');
  await expect(sandboxes.runtimes.acquire('broken', { signal: never })).rejects.toThrow('sandbox');
  expect(existsSync(trialFile)).toBe(false);
});
