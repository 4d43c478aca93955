import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Runtime } from '@tendon/core';
import { ACTIONS } from '@tendon/protocol';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { ExecutorFolder } from '../drivers/start/executor-folder.ts';
import { itInFull, runs, someOf } from '@tendon/testing';
import { createLocalDriver } from '../drivers/local/local-driver.ts';
import { signalProcess } from '../processes/process-identity.ts';
import { replaceSandboxes } from './replace-sandboxes.ts';
import type { SandboxRecord } from '../sandbox/sandbox-record.ts';
import {
  anchorOf,
  createTestSandboxes,
  executorFolder,
  leftOf,
  never,
  observe,
  run,
  runAction,
  until,
  type TestSandboxes,
  SANDBOX_TEST_MS,
} from '../testing/sandboxes.ts';
import type { SandboxPoolOptions, SandboxPool } from './sandbox-pool.ts';

vi.setConfig({ testTimeout: SANDBOX_TEST_MS });

/** Sandboxes that a server finds in its records; daily enough for a scan that blocks or repeats itself to be seen. */
const MANY = runs(2000, 500);

let executor: ExecutorFolder;
let sandboxes: TestSandboxes;

beforeAll(() => {
  executor = executorFolder();
});
afterEach(() => sandboxes.close());

function open(idlePlan: SandboxPoolOptions['idlePlan'], driver: SandboxDriver = createLocalDriver({ executor })): TestSandboxes {
  sandboxes = createTestSandboxes(driver, { idlePlan });
  return sandboxes;
}

const acquire = (runtimes: SandboxPool, id: string): Promise<Runtime> => runtimes.acquire(id, { signal: never });
const putRecord = (record: SandboxRecord): Promise<void> =>
  sandboxes.records.put('sandboxes', { id: record.conversation_id, sort: record.started_at, value: record });
const emptyRecord = (n: number) =>
  ({
    conversation_id: `c${n}`,
    driver: 'local',
    incarnation: (2 ** 40 + n).toString(16).padStart(16, '0'),
    workspace: sandboxes.workspace,
    started_at: new Date(n).toISOString(),
  }) as const;

describe('a server that starts again', () => {
  it('SB173: leaves hibernated sandboxes as they are, and the next action finds everything without a report of a loss', async () => {
    const { runtimes, record } = open({ idleMs: 100 });
    await run(await acquire(runtimes, 'a'), 'mkdir inner && cd inner && export MARK=yes');
    await until('it to hibernate', async () => (await record('a'))?.state === 'asleep');
    const before = await record('a');
    const next = await sandboxes.restart();
    expect(await next.reconcile()).toEqual({ kept: 1, reaped: 0 });
    expect(await record('a')).toEqual(before);
    const look = { ...ACTIONS.run.create({ command: 'echo "$MARK $(basename $PWD)"' }), timeout: 60 };
    const seen = await observe(await acquire(next, 'a'), look);
    expect(seen.content.trim()).toBe('yes inner');
    expect(JSON.stringify(seen)).not.toContain('ended (');
  });

  it('SB174: scans the machine once for all sandboxes that it ends, without blocking the event loop', async () => {
    const asked: (readonly string[])[] = [];
    const local = createLocalDriver({ executor });
    const endIncarnations = (incarnations: readonly string[]): Promise<void> => {
      // Other tests on this machine may have left sandboxes too, of a state root that no longer exists.
      const ours = incarnations.filter((incarnation) => incarnation.startsWith('0'.repeat(5)));
      if (ours.length > 0) asked.push(ours);
      return local.endIncarnations(incarnations);
    };
    const { restart, record } = open({}, { ...local, endIncarnations });
    for (let n = 0; n < MANY; n += 1)
      await putRecord(
        n % 10 === 0 ? { ...emptyRecord(n), state: 'starting' } : { ...emptyRecord(n), state: 'asleep', reason: 'it was idle' },
      );
    const next = await restart();
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 0);
    expect(await next.reconcile()).toEqual({ kept: 0.9 * MANY, reaped: 0.1 * MANY });
    clearInterval(counting);
    expect(asked.map(({ length }) => length)).toEqual([0.1 * MANY]);
    expect(turns).toBeGreaterThan(10);
    expect([(await record('c0'))?.state, (await record('c1'))?.state]).toEqual(['ended', 'asleep']);
  });

  it.each(someOf(['before', 'after'], 1))(
    'SB174: a conversation that needs its sandbox %s the start has begun to put things in order keeps it',
    async (when) => {
      const { runtimes, handle, record, stateRoot } = open({});
      const dead = await acquire(runtimes, 'a');
      const killed = anchorOf(await handle('a'));
      await runtimes.close();
      signalProcess(killed, 'SIGKILL');
      await until('it to be dead', () => leftOf(dead.incarnation, stateRoot).every((left) => !left.startsWith('process')));
      const next = await sandboxes.restart();
      const early = when === 'before' ? acquire(next, 'a') : undefined;
      const reconciling = next.reconcile();
      const runtime = await (early ?? acquire(next, 'a'));
      await reconciling;
      expect((await run(runtime, 'echo works')).output).toBe('works');
      expect(await record('a')).toMatchObject({ state: 'live', incarnation: runtime.incarnation });
      expect(leftOf(dead.incarnation, stateRoot)).toEqual([]);
    },
  );

  it('SB175: attaches to living sandboxes: they count as running, need no room, and make room when they are idle', async () => {
    const { runtimes, workspace } = open({ idleMs: 600_000, maxLive: 1 });
    const first = await acquire(runtimes, 'a');
    const work = runAction(first, 'touch began; until test -e go; do sleep 0.02; done; echo done', { timeout: 600 });
    void first.execute(work, { signal: never });
    await until('the command to begin', () => existsSync(join(workspace, 'began')));
    const next = await sandboxes.restart();
    const reconciling = next.reconcile();
    const another = acquire(next, 'b');
    await reconciling;
    expect(next.counts().running).toBeGreaterThan(0);
    expect(next.current('a')?.incarnation).toBe(first.incarnation);
    const again = await acquire(next, 'a');
    expect(next.current('b')).toBeUndefined();
    writeFileSync(join(workspace, 'go'), '');
    expect(await again.execute(work, { signal: never })).toMatchObject({ outcome: 'observed' });
    expect((await run(await another, 'echo works')).output).toBe('works');
    expect((await sandboxes.record('a'))?.state).toBe('asleep');
  });
});

describe('a store that was restored from a backup', () => {
  it('SB167: attaches to no older sandbox: running ones end, their host deletes them, and the next sandbox reports it', async () => {
    const forgotten: unknown[] = [];
    const local = createLocalDriver({ executor });
    const { runtimes, record, stateRoot, records } = open(
      {},
      { ...local, forget: async (id, { workspace }) => void forgotten.push([id, workspace]) },
    );
    const old = await acquire(runtimes, 'a');
    await run(old, 'export MARK=yes');
    await runtimes.close();
    await replaceSandboxes(records, [{ ...emptyRecord(1), conversation_id: 'b', state: 'asleep', reason: 'it was idle' }]);
    const next = await sandboxes.restart();
    const runtime = await acquire(next, 'a');
    expect(runtime.incarnation).not.toBe(old.incarnation);
    expect(forgotten).toEqual([['a', false]]);
    expect(leftOf(old.incarnation, stateRoot)).toEqual([]);
    const seen = await observe(runtime, { ...ACTIONS.run.create({ command: 'echo "<$MARK>"' }), timeout: 60 });
    expect(seen).toMatchObject({ content: expect.stringContaining('<>') as string });
    expect(JSON.stringify(seen)).toContain('restored from a backup');
    await next.reconcile();
    expect(forgotten).toEqual([
      ['a', false],
      ['b', false],
    ]);
    expect(await record('b')).toMatchObject({ state: 'ended', reason: 'the server was restored from a backup' });
  });

  itInFull('SB167: an unreachable host is asked later, and until then no sandbox starts there', async () => {
    let isAway = true;
    const forget = async (): Promise<void> => {
      if (isAway) throw new Error('the host is away');
    };
    const { runtimes, record, records } = open({}, { ...createLocalDriver({ executor }), forget });
    await acquire(runtimes, 'a');
    await runtimes.close();
    await replaceSandboxes(records, []);
    const next = await sandboxes.restart();
    await next.reconcile();
    expect(await record('a')).toMatchObject({ state: 'replaced' });
    await expect(acquire(next, 'a')).rejects.toThrow('the host is away');
    isAway = false;
    await acquire(next, 'a');
    expect(await record('a')).toMatchObject({ state: 'live' });
  });
});

describe('a stop', () => {
  it('SB176: keeps the next sandbox waiting until home and journal of this one are gone, and leaves that one alone', async () => {
    const forgotten: string[] = [];
    const { runtimes } = open({}, { ...createLocalDriver({ executor }), forget: async (id) => void forgotten.push(id) });
    const first = await acquire(runtimes, 'a');
    await run(first, 'mkdir -p ~/.cache && cd ~/.cache && seq 20000 | xargs touch');
    const stopping = runtimes.stop('a');
    const second = await acquire(runtimes, 'a');
    expect(forgotten).toEqual(['a']);
    expect((await run(second, 'echo precious > ~/note; ls -A ~')).output).toBe('note');
    await stopping;
    expect((await run(second, 'cat ~/note')).output).toBe('precious');
  });

  itInFull('SB176: during an end waits for it, and removes the rest', async () => {
    const { runtimes, handle, stateRoot, record } = open({});
    const first = await acquire(runtimes, 'a');
    await run(first, 'echo old > ~/note');
    signalProcess(anchorOf(await handle('a')), 'SIGKILL');
    await first.lost;
    const ended = runtimes.end('a', 'once more');
    await Promise.all([runtimes.stop('a'), runtimes.stop('a'), ended]);
    expect((await record('a'))?.state).toBe('ended');
    expect(leftOf(first.incarnation, stateRoot)).toEqual([]);
    expect((await run(await acquire(runtimes, 'a'), 'ls -A ~')).output).not.toContain('note');
  });
});
