import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import type { Runtime } from '@tendon/core';
import { createTestSandboxes, executorFolder, leftOf, never, run, until, type TestSandboxes } from '../../testing/sandboxes.ts';
import type { SandboxPoolOptions } from '../../pool/sandbox-pool.ts';
import { createDockerDriver } from './docker-driver.ts';
import { containersOf, openEngine } from '../../testing/containers/docker-under-test.ts';
import { engineOfRun } from '../../testing/containers/engine-of-run.ts';

const engine = await openEngine(engineOfRun());

describe(`an idle container of ${engineOfRun()}`, () => {
  let sandboxes: TestSandboxes;
  const paused: string[] = [];
  afterEach(async () => {
    await sandboxes.close();
    paused.length = 0;
  });
  afterAll(() => engine.close());

  async function open(idlePlan: SandboxPoolOptions['idlePlan'] = { idleMs: 100 }): Promise<(id: string) => Promise<Runtime>> {
    const driver = createDockerDriver({ executor: executorFolder(), host: engine.host, image: engine.image('bookworm') });
    sandboxes = createTestSandboxes(driver, { idlePlan, onSuspended: (id) => paused.push(id) });
    return (id) => sandboxes.runtimes.acquire(id, { signal: never });
  }
  const stateOf = async (id: string): Promise<string | undefined> =>
    (await sandboxes.runtimes.list()).find((one) => one.conversation_id === id)?.state;
  const untilSuspended = (id: string): Promise<void> => until(`${id} to be suspended`, async () => (await stateOf(id)) === 'asleep');

  itInFull('SB130: is suspended in place, and resumes with folder, variables, root and background processes', async () => {
    const acquire = await open();
    const first = await acquire('a');
    await run(first, 'mkdir inner; cd inner; export EXPORTED=yes; plain=too; echo x > ~/file; mkfifo pipe');
    await run(first, `(read -r line < pipe; echo "$line" > got) &`);
    await untilSuspended('a');
    expect(paused).toContain('a');
    const [info] = await sandboxes.runtimes.list();
    expect(info).toMatchObject({ state: 'asleep', processes: expect.any(Number), uptime_seconds: expect.any(Number) });
    expect(info!.memory_bytes).toBeGreaterThan(0);
    const woken = await acquire('a');
    expect(woken.incarnation).toBe(first.incarnation);
    const seen = await run(woken, 'echo "$EXPORTED $plain $(basename "$PWD") $(cat ~/file) $(jobs -r | wc -l)"; echo heard > pipe');
    expect(seen.output).toContain('yes too inner x 1');
    await until('the background process', () => existsSync(join(sandboxes.workspace, 'inner/got')));
    await until('its line', () => readFileSync(join(sandboxes.workspace, 'inner/got'), 'utf8') === 'heard\n');
  });

  itInFull('SB131: keeps running while something works, and is suspended after it', async () => {
    const acquire = await open();
    await run(await acquire('a'), '(until test -e done; do :; done) &');
    await until('it to refuse', async () => /^bash \(\d+\) works$/.test((await sandboxes.runtimes.list())[0]?.awake_for ?? ''));
    expect(await stateOf('a')).toBe('awake');
    writeFileSync(join(sandboxes.workspace, 'done'), '');
    await untilSuspended('a');
  });

  itInFull('SB132: a restarted server finds it suspended and resumes it, and deleting a suspended one leaves nothing', async () => {
    const acquire = await open();
    const first = await acquire('a');
    await run(first, 'mark=1; sleep 1000 &');
    await untilSuspended('a');
    const runtimes = await sandboxes.restart();
    expect(await runtimes.reconcile()).toMatchObject({ kept: 1, reaped: 0 });
    expect((await runtimes.list())[0]).toMatchObject({ state: 'asleep' });
    const again = await runtimes.acquire('a', { signal: never });
    expect(again.incarnation).toBe(first.incarnation);
    expect((await run(again, 'echo $mark $(jobs -r | wc -l)')).output).toBe('1 1');
    await until('it to be suspended again', async () => (await runtimes.list())[0]?.state === 'asleep');
    await runtimes.stop('a');
    expect([...leftOf(first.incarnation, sandboxes.stateRoot), ...containersOf(engine, first.incarnation)]).toEqual([]);
  });

  it('SB133: makes room for another, and of too many suspended ones the first ends', async () => {
    const acquire = await open({ idleMs: 600_000, maxLive: 1 });
    const first = await run(await acquire('a'), 'echo here');
    expect(first.output).toBe('here');
    for (const id of ['b', 'c', 'd']) await run(await acquire(id), 'true');
    expect(await stateOf('a')).toBe('asleep');
    expect((await run(await acquire('e'), 'echo works')).output).toBe('works');
    await until('the first to go', async () => (await sandboxes.record('a'))?.state === 'ended');
    expect(await sandboxes.record('a')).toMatchObject({ reason: 'its place was needed while it was suspended' });
    expect(await stateOf('b')).toBe('asleep');
  });
});
