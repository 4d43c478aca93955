import type { Duplex } from 'node:stream';
import { afterEach, expect, it, vi } from 'vitest';
import { itInFull } from '@tendon/testing';
import { createLocalDriver } from '../drivers/local/local-driver.ts';
import type { SecretsFor } from '../sandbox/action-stream.ts';
import type { SandboxRecord } from '../sandbox/sandbox-record.ts';
import { createTestSandboxes, executorFolder, leftOf, never, SANDBOX_TEST_MS, type TestSandboxes } from '../testing/sandboxes.ts';
import type { OneOffPrograms } from './one-off-sandboxes.ts';

vi.setConfig({ testTimeout: SANDBOX_TEST_MS });

let sandboxes: TestSandboxes;
afterEach(() => sandboxes.close());

/** What a script prints before it ends. */
async function printed(programs: OneOffPrograms, script: string): Promise<string> {
  const connection = await begin(programs, script);
  let text = '';
  for await (const chunk of connection) text += String(chunk);
  return text.split('\n{"process_end"')[0]!;
}

async function begin(programs: OneOffPrograms, script: string): Promise<Duplex> {
  const connection = await programs.openProcess({ signal: never });
  connection.write(`${JSON.stringify({ command: 'sh', args: ['-c', script], env: {} })}\n`);
  return connection;
}

/** All that have a record now. */
async function known(): Promise<readonly SandboxRecord[]> {
  return (await sandboxes.records.list<SandboxRecord>('sandboxes')).map(({ value }) => value);
}

async function onlyOne(): Promise<SandboxRecord> {
  const [one, ...others] = await known();
  expect(others).toEqual([]);
  return one!;
}

it('SB533: what is no conversation’s runs in a new, empty sandbox without its secrets, one at a time, and nothing of it is left', async () => {
  const secretsFor = vi.fn<SecretsFor>(async () => new Map());
  sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }), {
    secretsFor,
    oneOffNetwork: async () => ({ mode: 'none', allow: [], allowPrivate: [] }),
    git: () => {
      throw new Error('nobody’s tokens are asked for');
    },
  });
  const { runtimes, stateRoot } = sandboxes;
  const incarnations: string[] = [];
  const look = (script: string) => (programs: OneOffPrograms) =>
    onlyOne().then((one) => (incarnations.push(one.incarnation), printed(programs, script)));
  const [first, second] = await Promise.all([
    runtimes.runOneOff(look('pwd; ls -A; echo 1 > mine; echo 1 > ~/mine'), { signal: never }),
    runtimes.runOneOff(look('ls -A; ls ~/mine 2>/dev/null; curl -sS -m 5 http://example.com 2>&1 | head -c 200'), { signal: never }),
  ]);
  expect(first.trim()).toBe('/workspace');
  expect(second).not.toContain('mine');
  expect(second).not.toContain('Example Domain');
  expect(new Set(incarnations).size).toBe(2);
  for (const incarnation of incarnations) expect(leftOf(incarnation, stateRoot)).toEqual([]);
  expect(await known()).toEqual([]);
  expect(secretsFor).not.toHaveBeenCalled();
});

itInFull(
  'SB533: one that is given up, or whose server closes, ends with its programs; while it runs, no clearing up takes it',
  async () => {
    sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }));
    const { runtimes, stateRoot } = sandboxes;
    const hang = (giveUp: (one: SandboxRecord) => Promise<unknown>) => async (programs: OneOffPrograms) => {
      const connection = await begin(programs, 'echo up; sleep 600');
      await new Promise((resolve) => connection.once('data', resolve));
      await giveUp(await onlyOne());
      return new Promise(() => {});
    };
    const leaving = new AbortController();
    let gone = '';
    const given = runtimes.runOneOff(
      hang(async ({ incarnation }) => {
        gone = incarnation;
        await runtimes.reclaim({ all: true });
        expect((await onlyOne()).state).toBe('live');
        leaving.abort(new Error('the page was left'));
      }),
      { signal: leaving.signal },
    );
    await expect(given).rejects.toThrow('the page was left');
    expect(leftOf(gone, stateRoot)).toEqual([]);
    expect(await known()).toEqual([]);

    let closing: Promise<void> | undefined;
    const running = runtimes.runOneOff(
      hang(async ({ incarnation }) => {
        gone = incarnation;
        closing = runtimes.close();
      }),
      { signal: never },
    );
    await expect(running).rejects.toThrow('the server is shutting down');
    await closing;
    expect(leftOf(gone, stateRoot)).toEqual([]);
    expect(await known()).toEqual([]);
  },
);
