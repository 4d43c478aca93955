/** An executor outlives the server that started it: what the next version of the server does with it. */
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { itInFull, someOf } from '@tendon/testing';
import type { Runtime } from '@tendon/core';
import { ACTIONS } from '@tendon/protocol';
import { PROTOCOL } from '@tendon/protocol/executor-api';
import { createLocalDriver } from '../drivers/local/local-driver.ts';
import {
  createTestSandboxes,
  executorFolder,
  leftOf,
  never,
  observe,
  run,
  runAction,
  until,
  type TestSandboxes,
} from '../testing/sandboxes.ts';
import type { SandboxPoolOptions, SandboxPool } from './sandbox-pool.ts';

/**
 * Today's executor, which speaks the version in the file `protocol` of its workspace, as soon as there is one: `null` for an executor from before
 * versions, whose journal had no digests either.
 */
const OTHER_VERSION = `
import { existsSync, readFileSync } from 'node:fs';
const path = '/workspace/protocol';
const stringify = JSON.stringify;
JSON.stringify = (value, ...rest) => {
  const spoken = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
  if (spoken === undefined || typeof value !== 'object' || value === null) return stringify(value, ...rest);
  if (value.protocol) return stringify({ ...value, protocol: spoken ?? undefined }, ...rest);
  return stringify(spoken === null && value.s && value.d ? { ...value, d: undefined } : value, ...rest);
};
await import('./today.mjs');
`;

let folder: string;
let sandboxes: TestSandboxes;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tendon-other-version-'));
  cpSync(executorFolder().folder, folder, { recursive: true });
  renameSync(join(folder, 'main.mjs'), join(folder, 'today.mjs'));
  writeFileSync(join(folder, 'main.mjs'), OTHER_VERSION);
});
afterEach(() => sandboxes.close());
afterAll(() => rmSync(folder, { recursive: true }));

function open(options: Partial<SandboxPoolOptions> = {}): TestSandboxes {
  sandboxes = createTestSandboxes(createLocalDriver({ executor: { folder, entry: 'main.mjs', node: process.execPath } }), options);
  return sandboxes;
}

const acquire = (runtimes: SandboxPool): Promise<Runtime> => runtimes.acquire('a', { signal: never });
const inWorkspace = (name: string): string => join(sandboxes.workspace, name);
const speaks = (protocol: readonly number[] | null): void => writeFileSync(inWorkspace('protocol'), JSON.stringify(protocol));
const noticed = (words: string): Promise<void> => until(words, () => sandboxes.notices.some((notice) => notice.includes(words)));
const nextSays = async (runtime: Runtime, command: string): Promise<string> =>
  JSON.stringify(await observe(runtime, { ...ACTIONS.run.create({ command }), timeout: 60 }));

const OTHERS = [
  ['before there were versions', null],
  ['the version after this', [PROTOCOL[1] + 1, PROTOCOL[1] + 1]],
] as const;

describe.each(someOf(OTHERS, 1))('an executor of %s', (_which, protocol) => {
  itInFull('SB168: is replaced when its action has ended, whose outcome is recorded, and the next observation reports it', async () => {
    const first = await acquire(open().runtimes);
    await run(first, 'export MARK=yes; mkdir -p inner; cd inner');
    speaks(protocol);
    const action = runAction(first, 'touch began; until test -e go; do sleep 0.02; done; echo x >> ran; echo went on', { timeout: 600 });
    void first.execute(action, { signal: never, epoch: 'one', isFresh: true });
    await until('the command to begin', () => existsSync(inWorkspace('inner/began')));

    const next = await sandboxes.restart();
    await next.reconcile();
    const acquiring = acquire(next);
    await noticed('is replaced when nothing runs in it');
    expect(next.current('a')).toBeUndefined();
    writeFileSync(inWorkspace('inner/go'), '');
    await until('it to have ended', () => existsSync(inWorkspace('inner/ran')));
    rmSync(inWorkspace('protocol')); // what starts next is of this version
    const second = await acquiring;
    expect(second.incarnation).not.toBe(first.incarnation);
    expect(await second.execute(action, { signal: never, epoch: 'one' })).toMatchObject({
      outcome: 'observed',
      observation: { content: expect.stringContaining('went on') as string },
    });
    expect(readFileSync(inWorkspace('inner/ran'), 'utf8')).toBe('x\n');
    expect(await nextSays(second, 'echo "<$MARK ${PWD##*/}>"')).toMatch(
      /<yes inner>.*started by another version of Tendon and has been replaced/,
    );
    expect(leftOf(first.incarnation, sandboxes.stateRoot)).toEqual([]);
  });

  it.each(
    someOf(
      [
        ['is not waited for without end', { outdatedMs: 1 }, false],
        ['is not waited for when what runs is not wanted any more', {}, true],
      ] as const,
      1,
    ),
  )('SB168: %s: that is cancelled, and its outcome is stored', async (_how, options, isUnwanted) => {
    const first = await acquire(open(options).runtimes);
    const action = runAction(first, 'touch began; sleep 1000; touch never', { timeout: 2000 });
    void first.execute(action, { signal: never, isFresh: true });
    await until('the command to begin', () => existsSync(inWorkspace('began')));
    speaks(protocol);
    const next = await sandboxes.restart();
    const unwanted = new AbortController();
    const acquiring = next.acquire('a', { signal: never, unwanted: unwanted.signal });
    await noticed('is replaced when nothing runs in it');
    if (isUnwanted) unwanted.abort();
    await noticed('is cancelled');
    rmSync(inWorkspace('protocol'));
    const second = await acquiring;
    expect(await second.execute(action, { signal: never })).toMatchObject({ outcome: 'observed', observation: { observation: 'run' } });
    expect(existsSync(inWorkspace('never'))).toBe(false);
  });

  itInFull('SB168: with programs in the background it is replaced at once, and their end is reported', async () => {
    const first = await acquire(open().runtimes);
    await run(first, 'nohup sleep 1000 > /dev/null 2>&1 &');
    speaks(protocol);
    const next = await sandboxes.restart();
    const acquiring = acquire(next);
    await noticed('is replaced when');
    rmSync(inWorkspace('protocol'));
    expect(await nextSays(await acquiring, 'true')).toMatch(
      /has ended \(another version of Tendon had started it\): what was running, .* are gone/,
    );
    expect(leftOf(first.incarnation, sandboxes.stateRoot)).toEqual([]);
  });
});

itInFull('SB168: an installation whose executor is of another version than the server says what to do', async () => {
  const { runtimes } = open();
  speaks(null);
  await expect(acquire(runtimes)).rejects.toThrow('it is of another version than this server: install Tendon anew');
});
