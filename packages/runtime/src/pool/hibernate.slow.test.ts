import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { itInFull, someOf } from '@tendon/testing';
import type { Clock, Runtime } from '@tendon/core';
import { ACTIONS } from '@tendon/protocol';
import type { ExecutorFolder } from '../drivers/start/executor-folder.ts';
import { createLocalDriver } from '../drivers/local/local-driver.ts';
import { createNoneDriver } from '../drivers/none/none-driver.ts';
import {
  createTestSandboxes,
  executorFolder,
  leftOf,
  never,
  observe,
  run,
  runAction,
  until,
  wallClock,
  type TestSandboxes,
} from '../testing/sandboxes.ts';
import type { SandboxPoolOptions } from './sandbox-pool.ts';

let executor: ExecutorFolder;
let sandboxes: TestSandboxes;
const paused: string[] = [];

beforeAll(() => {
  executor = executorFolder();
});
afterEach(async () => {
  await sandboxes.close();
  paused.length = 0;
});

function open(idlePlan: SandboxPoolOptions['idlePlan'] = { idleMs: 100 }, driver = createLocalDriver({ executor })): TestSandboxes {
  sandboxes = createTestSandboxes(driver, { idlePlan, onSuspended: (id) => paused.push(id) });
  return sandboxes;
}

/** Without what all of them share, which stays until the last is gone for good. */
const foldersOfSandboxes = (): readonly string[] =>
  existsSync(sandboxes.stateRoot) ? readdirSync(sandboxes.stateRoot).filter((name) => !['kernels', 'id'].includes(name)) : [];
const acquire = (id: string): Promise<Runtime> => sandboxes.runtimes.acquire(id, { signal: never });
const isHibernated = async (id: string): Promise<boolean> => (await sandboxes.record(id))?.state === 'asleep';
const untilHibernated = (id: string): Promise<void> => until(`${id} to hibernate`, () => isHibernated(id));

const cell = async (runtime: Runtime, code: string): Promise<string> =>
  (await observe(runtime, ACTIONS.run_ipython.create({ code }))).content;

describe.each(someOf(['local', 'none'], ['local']))('an idle sandbox of driver %s', (name) => {
  const driver = () => (name === 'none' ? createNoneDriver({ executor }) : createLocalDriver({ executor }));

  it('SB92: hibernates, leaves nothing that runs, and is restored where it was', async () => {
    const { stateRoot } = open({ idleMs: 100 }, driver());
    const first = await acquire('a');
    const setUp = [
      'mkdir -p inner && cd inner && export EXPORTED="a b" && plain=(1 2) && greet() { echo "hi $1"; } && alias lah="echo alias"',
      'set -u; shopt -s extglob; umask 027',
    ];
    for (const command of setUp) await run(first, command);
    await untilHibernated('a');
    expect(paused).toEqual(['a']);
    expect(leftOf(first.incarnation, stateRoot)).toEqual([]);
    expect(sandboxes.runtimes.current('a')).toBeUndefined();
    const second = await acquire('a');
    expect(second.incarnation).not.toBe(first.incarnation);
    const seen = await run(
      second,
      'basename "$PWD"; echo "$EXPORTED ${plain[1]}"; greet you; lah; umask; shopt -q extglob; echo $?; echo ${nope-unset}',
    );
    expect(seen.output.split('\n')).toEqual(['inner', 'a b 2', 'hi you', 'alias', '0027', '0', 'unset']);
    expect((await run(second, '(echo $missing)')).exitCode).not.toBe(0); // set -u
  });
});

describe('an idle sandbox', () => {
  itInFull('SB92: keeps what lies in its temporary folders', async () => {
    open();
    const first = await acquire('a');
    await run(
      first,
      'mkdir -p /tmp/deep && echo here > /tmp/deep/file && chmod 640 /tmp/deep/file && ln -s deep/file /tmp/link && echo x > /dev/shm/x',
    );
    await untilHibernated('a');
    expect((await run(await acquire('a'), 'cat /tmp/link; stat -c %a /tmp/deep/file; cat /dev/shm/x; rm -r /tmp/*')).output).toBe(
      'here\n640\nx',
    );
    await untilHibernated('a');
    expect((await run(await acquire('a'), 'ls /tmp')).output).not.toContain('deep');
  });

  itInFull('SB93: keeps running while something of the agent runs, and hibernates after it', async () => {
    open();
    const runtime = await acquire('a');
    await run(runtime, 'nohup sh -c "until test -e done; do sleep 0.05; done" >/dev/null 2>&1 &');
    await until('it to refuse', async () => /^(sh|sleep) \(\d+\) runs$/.test((await sandboxes.runtimes.list())[0]?.awake_for ?? ''));
    expect(sandboxes.runtimes.current('a')).toBe(runtime);
    writeFileSync(join(sandboxes.workspace, 'done'), '');
    await untilHibernated('a');
  });

  itInFull('SB93: with a kernel it keeps running for a while, and then reports what was lost', async () => {
    open({ idleMs: 300 });
    const first = await acquire('a');
    expect(await cell(first, 'x = 41; x + 1')).toContain('42');
    await untilHibernated('a');
    const second = await acquire('a');
    const answer = await cell(second, 'x');
    expect(answer).toContain('The sandbox was hibernated since the last cell');
    expect(answer).toContain('NameError');
    expect(await cell(second, '1 + 1')).not.toContain('hibernated');
  });

  it('SB94: makes room for another, the least recently used first', async () => {
    open({ idleMs: 600_000, maxLive: 2 });
    const [a, b] = [await acquire('a'), await acquire('b')];
    await run(a, 'cd /tmp');
    await run(b, 'true');
    await run(a, 'true');
    const c = await acquire('c');
    expect(await isHibernated('b')).toBe(true);
    expect(sandboxes.runtimes.current('a')).toBe(a);
    expect((await run(c, 'echo works')).output).toBe('works');
  });

  itInFull('SB94: whose time is over ends, and says so', async () => {
    const maxMs = 20_000; // it is looked at every second
    let passedMs = 0;
    const clock: Clock = { ...wallClock, now: () => new Date(Date.now() + passedMs) };
    sandboxes = createTestSandboxes(createLocalDriver({ executor }), { idlePlan: { idleMs: 600_000, maxMs }, clock });
    const runtime = await acquire('a');
    const action = runAction(runtime, 'echo began; sleep 1000', { timeout: 600 }); // silence does not end it
    const result = await runtime.execute(action, { signal: never, onOutput: () => void (passedMs = maxMs) });
    expect(passedMs).toBe(maxMs);
    expect(result).toMatchObject({ outcome: 'unknown', reason: 'its time of 20 seconds is over' });
    await until('it to end', async () => (await sandboxes.record('a'))?.state === 'ended');
    expect(leftOf(runtime.incarnation, sandboxes.stateRoot)).toEqual([]);
  });

  itInFull('SB92: an action that comes while it hibernates runs once, in the restored one', async () => {
    open({ idleMs: 50 });
    for (let i = 0; i < 12; i += 1) {
      const runtime = await acquire('a');
      const result = await runtime.execute(runAction(runtime, `echo ${i} >> count`), { signal: never });
      if (result.outcome !== 'observed') await run(await acquire('a'), `echo ${i} >> count`); // as the engine does after "not started"
      expect(result.outcome).not.toBe('unknown');
    }
    expect((await run(await acquire('a'), 'wc -l < count')).output).toBe('12');
  });

  itInFull('SB92: the outcome of an action outlives the hibernation', async () => {
    open();
    const first = await acquire('a');
    const action = runAction(first, 'echo once >> once; wc -l < once');
    const before = await first.execute(action, { signal: never });
    await untilHibernated('a');
    const second = await acquire('a');
    expect(await second.execute(action, { signal: never })).toEqual(before);
    expect((await run(second, 'cat once')).output).toBe('once');
  });

  itInFull('SB92: a stop forgets what was stored for a restore', async () => {
    open();
    await run(await acquire('a'), 'export MARK=1');
    await untilHibernated('a');
    await sandboxes.runtimes.stop('a');
    expect(foldersOfSandboxes()).toEqual([]);
    expect((await run(await acquire('a'), 'echo ${MARK-gone}')).output).toBe('gone');
  });

  itInFull('SB92: what a sandbox saved badly does not keep it from waking', async () => {
    open();
    await run(await acquire('a'), 'export MARK=1');
    await untilHibernated('a');
    const [sandbox = ''] = foldersOfSandboxes();
    writeFileSync(join(sandboxes.stateRoot, sandbox, 'state/session.json'), '{"workingDir":"/nowhere","shell":"exit 3"}');
    expect((await run(await acquire('a'), 'echo works')).output).toBe('works');
  });
});
