import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { anchorOf, isAlive, findProcesses, leftOf, never, run, runAction, until } from '@tendon/runtime/testing';
import { itInFull, someOf } from '@tendon/testing';
import { APPENDED_AT } from './sandbox-drivers.ts';
import { sandboxStage } from './sandbox-stage.ts';

/** A process that holds a sandbox is ended with SIGKILL; another takes over from what is durable. */
describe.each(someOf(['local', 'none'], ['local']))('driver %s, the server killed', (driver) => {
  const stage = sandboxStage(driver);
  const workspace = (name: string): string => stage.path('workspace', name);

  it('SB14: the same executor is found again and reports the outcome of the command, which ran once', async () => {
    const command = 'echo began >> count; until test -e go; do sleep 0.02; done; echo ended >> count';
    const server = stage.serve(command, { id: 7 });
    const incarnation = await server.line('incarnation');
    await until('the command to begin', () => existsSync(workspace('count')));
    await server.kill();
    writeFileSync(workspace('go'), '');
    const { runtimes } = await stage.takeOver();
    expect(await runtimes.reconcile()).toEqual({ reaped: 0, kept: 1 });
    const runtime = await runtimes.acquire('conversation', { signal: never });
    expect(runtime.incarnation).toBe(incarnation);
    const action = runAction(runtime, command, { id: 7, timestamp: APPENDED_AT });
    const [first, second] = [await runtime.execute(action, { signal: never }), await runtime.execute(action, { signal: never })];
    expect(first).toMatchObject({ outcome: 'observed', observation: { observation: 'run', extras: { metadata: { exit_code: 0 } } } });
    expect(second).toEqual(first);
    expect(readFileSync(workspace('count'), 'utf8')).toBe('began\nended\n');
  });

  it('SB15: server and executor killed: the outcome is unknown, nothing runs again', async () => {
    const server = stage.serve('echo began >> count; sleep 1000', { id: 7 });
    const incarnation = await server.line('incarnation');
    await until('the command to begin', () => existsSync(workspace('count')));
    await server.kill();
    const { runtimes, handle } = await stage.takeOver();
    const anchor = anchorOf(await handle('conversation'));
    process.kill(anchor.pid, 'SIGKILL');
    await until('the executor to be gone', () => !isAlive(anchor));
    const runtime = await runtimes.acquire('conversation', { signal: never });
    expect(runtime.incarnation).not.toBe(incarnation);
    const action = runAction(runtime, 'echo again >> count', { id: 7, executor: incarnation });
    expect(await runtime.execute(action, { signal: never })).toMatchObject({ outcome: 'unknown' });
    expect(readFileSync(workspace('count'), 'utf8')).toBe('began\n');
    expect((await run(runtime, 'echo works')).output).toBe('works');
    expect(leftOf(incarnation, stage.path('state'))).toEqual([]);
  });

  itInFull('SB24: killed at any moment of a start, nothing is left that nobody knows', async () => {
    for (const afterMs of someOf([0, 15, 30, 45, 60, 90, 120, 160], 3)) {
      const server = stage.serve('true');
      await server.line('acquiring');
      await delay(afterMs); // where in the start it is hit is the point: any moment will do
      await server.kill();
    }
    const { runtimes, records, stateRoot } = await stage.takeOver();
    await runtimes.reconcile();
    await runtimes.stop('conversation');
    const [record] = await records.list<{ incarnation: string }>('sandboxes');
    expect(record === undefined ? [] : leftOf(record.value.incarnation, stateRoot)).toEqual([]);
    expect(findProcesses(stage.path(), 'cmdline')).toEqual([]);
  });

  itInFull('SB32: killed at any moment of a start, what was begun ends by its lease though no server comes back', async () => {
    for (const afterMs of someOf([5, 20, 25, 30, 35, 40, 50, 70, 110], 3)) {
      const server = stage.serve('true', { leaseSeconds: 1 });
      await server.line('acquiring');
      await delay(afterMs);
      await server.kill();
    }
    await until('the leases to run out', () => findProcesses(stage.path(), 'cmdline').length === 0);
    expect(findProcesses(stage.path(), 'cmdline')).toEqual([]);
  });

  it('SB24: the sandbox of a conversation that is gone is reaped', async () => {
    const server = stage.serve('sleep 1000');
    const incarnation = await server.line('incarnation');
    await server.kill();
    const sandboxes = await stage.takeOver({ workspaceOf: async () => undefined });
    expect(await sandboxes.runtimes.reconcile()).toEqual({ kept: 0, reaped: 1 });
    expect(leftOf(incarnation, sandboxes.stateRoot)).toEqual([]);
    expect(await sandboxes.record('conversation')).toBeUndefined();
  });
});
