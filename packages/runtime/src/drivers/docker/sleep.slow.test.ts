import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Runtime } from '@tendon/core';
import { createTestSandboxes, executorFolder, leftOf, never, run, until, type TestSandboxes } from '../../testing/sandboxes.ts';
import type { RuntimesOptions } from '../../pool/sandbox-runtimes.ts';
import { createDockerDriver } from './docker-driver.ts';
import { containersOf, openEngine } from '../../testing/containers/docker-under-test.ts';
import { engineOfRun } from '../../testing/containers/engine-of-run.ts';

const engine = await openEngine(engineOfRun());

describe(`an idle container of ${engineOfRun()}`, () => {
  let sandboxes: TestSandboxes;
  const asleep: string[] = [];
  afterEach(async () => {
    await sandboxes.close();
    asleep.length = 0;
  });
  afterAll(() => engine.close());

  async function open(rest: RuntimesOptions['rest'] = { idleMs: 100 }): Promise<(id: string) => Promise<Runtime>> {
    const driver = createDockerDriver({ executor: executorFolder(), host: engine.host, image: engine.image('bookworm') });
    sandboxes = createTestSandboxes(driver, { rest, onAsleep: (id) => asleep.push(id) });
    return (id) => sandboxes.runtimes.acquire(id, { signal: never });
  }
  const stateOf = async (id: string): Promise<string | undefined> =>
    (await sandboxes.runtimes.list()).find((one) => one.conversation_id === id)?.state;
  const untilAsleep = (id: string): Promise<void> => until(`${id} to sleep`, async () => (await stateOf(id)) === 'asleep');

  it('SB130: sleeps where it stands, and wakes with folder, variables, root and background processes', async () => {
    const acquire = await open();
    const first = await acquire('a');
    await run(first, 'mkdir inner; cd inner; export EXPORTED=yes; plain=too; echo x > ~/file; mkfifo pipe');
    await run(first, `(read -r line < pipe; echo "$line" > got) &`);
    await untilAsleep('a');
    expect(asleep).toContain('a');
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

  it('SB131: stays awake while something works, and sleeps after it', async () => {
    const acquire = await open();
    await run(await acquire('a'), '(until test -e done; do :; done) &');
    await until('it to refuse', async () => /^bash \(\d+\) works$/.test((await sandboxes.runtimes.list())[0]?.awake_for ?? ''));
    expect(await stateOf('a')).toBe('awake');
    writeFileSync(join(sandboxes.workspace, 'done'), '');
    await untilAsleep('a');
  });

  it('SB132: a restarted server finds it asleep and wakes it, and what is deleted in its sleep leaves nothing', async () => {
    const acquire = await open();
    const first = await acquire('a');
    await run(first, 'kept=1; sleep 1000 &');
    await untilAsleep('a');
    const runtimes = await sandboxes.restart();
    expect(await runtimes.reconcile()).toMatchObject({ kept: 1, reaped: 0 });
    expect((await runtimes.list())[0]).toMatchObject({ state: 'asleep' });
    const again = await runtimes.acquire('a', { signal: never });
    expect(again.incarnation).toBe(first.incarnation);
    expect((await run(again, 'echo $kept $(jobs -r | wc -l)')).output).toBe('1 1');
    await until('it to sleep again', async () => (await runtimes.list())[0]?.state === 'asleep');
    await runtimes.stop('a');
    expect([...leftOf(first.incarnation, sandboxes.stateRoot), ...containersOf(engine, first.incarnation)]).toEqual([]);
  });

  it('SB133: makes room for another, and of too many that sleep the first goes', async () => {
    const acquire = await open({ idleMs: 600_000, maxLive: 1 });
    const first = await run(await acquire('a'), 'echo here');
    expect(first.output).toBe('here');
    for (const id of ['b', 'c', 'd']) await run(await acquire(id), 'true');
    expect(await stateOf('a')).toBe('asleep');
    expect((await run(await acquire('e'), 'echo works')).output).toBe('works');
    await until('the first to go', async () => (await sandboxes.record('a'))?.state === 'ended');
    expect(await sandboxes.record('a')).toMatchObject({ reason: 'its place was needed while it slept' });
    expect(await stateOf('b')).toBe('asleep');
  });
});
