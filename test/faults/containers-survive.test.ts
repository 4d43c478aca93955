import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { findProcesses, leftOf, never, run, runAction, until } from '@tendon/runtime/testing';
import { containersOf, openEngine } from '@tendon/runtime/testing/containers';
import { itInFull, someOf } from '@tendon/testing';
import { APPENDED_AT } from './sandbox-drivers.ts';
import { sandboxStage } from './sandbox-stage.ts';

const engine = await openEngine('docker');
const driver = `docker=${engine.host}=${engine.image('busybox')}`;
afterAll(() => engine.close());

/** As `sandbox-survives`, with the engine as a third party that knows of the sandbox. */
describe('driver docker, the server killed', () => {
  const stage = sandboxStage(driver);

  itInFull('SB14: the same container is found again and reports the outcome of the command, which ran once', async () => {
    const command = 'echo began >> count; until test -e go; do sleep 0.05; done; echo ended >> count';
    const server = stage.serve(command, { id: 7 });
    const incarnation = await server.line('incarnation');
    await until('the command to begin', () => existsSync(stage.path('workspace/count')));
    await server.kill();
    writeFileSync(stage.path('workspace/go'), '');
    const { runtimes, stateRoot } = await stage.takeOver();
    expect(await runtimes.reconcile()).toMatchObject({ reaped: 0, kept: 1 });
    const runtime = await runtimes.acquire('conversation', { signal: never });
    expect(runtime.incarnation).toBe(incarnation);
    const action = runAction(runtime, command, { id: 7, timestamp: APPENDED_AT });
    expect(await runtime.execute(action, { signal: never })).toMatchObject({ outcome: 'observed', observation: { observation: 'run' } });
    expect(readFileSync(stage.path('workspace/count'), 'utf8')).toBe('began\nended\n');
    await runtimes.stop('conversation');
    expect([...leftOf(incarnation, stateRoot), ...containersOf(engine, incarnation)]).toEqual([]);
  });

  itInFull('SB57: the browser beside the container ends with the server, and what is left of it goes with the sandbox', async () => {
    const server = stage.serve('http://127.0.0.1:1/');
    const incarnation = await server.line('incarnation');
    expect(await server.line('result')).toContain('127.0.0.1:1');
    const browsers = (): readonly number[] => findProcesses(`browser/${incarnation}`, 'cmdline');
    expect(browsers()).not.toEqual([]);
    await server.kill();
    await until('the browser to end', () => browsers().length === 0);
    const { runtimes, stateRoot } = await stage.takeOver();
    expect(await runtimes.reconcile()).toMatchObject({ reaped: 0, kept: 1 });
    await runtimes.stop('conversation');
    expect([...leftOf(incarnation, stateRoot), ...containersOf(engine, incarnation)]).toEqual([]);
  });

  it('SB24: killed at any moment of a start, nothing is left that nobody knows', async () => {
    for (const afterMs of someOf([0, 60, 150, 300, 500, 800], [150, 500])) {
      const server = stage.serve('true');
      await server.line('acquiring');
      await delay(afterMs); // where in the start it is hit is the point: any moment will do
      await server.kill();
    }
    const { runtimes, stateRoot } = await stage.takeOver();
    // The engine carries out a request whose client is gone, at times after the first search.
    await expect
      .poll(async () => {
        await runtimes.reconcile();
        await runtimes.stop('conversation');
        return engine.command('ps', '--all', '--quiet');
      })
      .toBe('');
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(stage.path());
    expect(leftOf(stateRoot, stateRoot)).toEqual([]);
  });

  itInFull('SB32: without a server the executor ends by its lease, and the container with it', async () => {
    const server = stage.serve('true', { leaseSeconds: 3 });
    const incarnation = await server.line('incarnation');
    await server.kill();
    await until('the lease to run out', () => engine.command('ps', '--quiet').trim() === '');
    const { runtimes } = await stage.takeOver();
    await runtimes.reconcile();
    expect(containersOf(engine, incarnation)).toEqual([]);
  });

  it.each(someOf([0, 40, 80, 120, 200, 400], [40]))(
    'SB132: killed %d ms after the container was last used, suspended or about to be: nothing is lost or done twice',
    async (afterMs) => {
      const server = stage.serve('export STORED=yes; cd /home; sleep 1000 & echo once >> /workspace/count', { id: 1_000_000, idleMs: 40 });
      const incarnation = await server.line('incarnation');
      await server.line('result');
      await delay(afterMs); // where on the way there it is hit is the point: any moment will do
      await server.kill();
      const { runtimes } = await stage.takeOver();
      expect(await runtimes.reconcile()).toMatchObject({ reaped: 0, kept: 1 });
      const runtime = await runtimes.acquire('conversation', { signal: never });
      expect(runtime.incarnation).toBe(incarnation);
      expect((await run(runtime, 'echo "$STORED $PWD $(jobs -r | wc -l)"')).output).toBe('yes /home 1');
      expect(readFileSync(stage.path('workspace/count'), 'utf8')).toBe('once\n');
    },
  );

  itInFull('SB132: suspended and without a server it ends by its lease, with what was frozen in it', async () => {
    const server = stage.serve('sleep 1000 &', { leaseSeconds: 5, idleMs: 40 });
    const incarnation = await server.line('incarnation');
    await server.line('asleep');
    await server.kill();
    await until('the lease to run out', () => engine.command('ps', '--quiet').trim() === '');
    const { runtimes, stateRoot } = await stage.takeOver();
    await runtimes.reconcile();
    await runtimes.stop('conversation');
    expect([...leftOf(incarnation, stateRoot), ...containersOf(engine, incarnation)]).toEqual([]);
  });
});
