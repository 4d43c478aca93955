import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Storage } from '@tendon/core';
import {
  createTestSandboxes,
  leftOf,
  never,
  runAction,
  until,
  type TestSandboxes,
} from '../../packages/runtime/src/sandbox.test-support.ts';
import { findProcesses } from '../../packages/runtime/src/drivers/process-identity.ts';
import { containersOf } from '../../packages/runtime/src/drivers/docker/testing/docker-under-test.ts';
import { openEngine } from '../../packages/runtime/src/drivers/docker/testing/open-engine.ts';
import { openDriver, openStorage } from './sandbox-drivers.ts';
import { servers, startServer } from './sandbox-server-process.ts';

const engine = await openEngine('docker');
const driver = `docker=${engine.host}=${engine.image('busybox')}`;
afterAll(() => engine.close());

/** As `sandbox-survives`, with the engine as a third party that knows of the sandbox. */
describe('driver docker, the server killed', () => {
  let folder = '';
  let storage: Storage | undefined;
  let sandboxes: TestSandboxes | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tendon-fault-'));
  });
  afterEach(async () => {
    for (const child of servers.splice(0)) child.kill('SIGKILL');
    await sandboxes?.close();
    await storage?.close();
    sandboxes = undefined;
    rmSync(folder, { recursive: true, force: true });
  });

  async function takeOver(): Promise<TestSandboxes> {
    storage = await openStorage(folder);
    const workspaceOf = async () => ({ hostPath: join(folder, 'workspace') });
    sandboxes = createTestSandboxes(openDriver(driver), { folder, records: storage.records, workspaceOf });
    return sandboxes;
  }

  it('SB14: the same container is found again and tells what became of the command, which ran once', async () => {
    const server = startServer([folder, driver, 'echo began >> count; until test -e go; do sleep 0.05; done; echo ended >> count', '7']);
    const incarnation = await server.line('incarnation');
    const workspace = join(folder, 'workspace');
    await until('the command to begin', () => existsSync(join(workspace, 'count')));
    await server.kill();
    writeFileSync(join(workspace, 'go'), '');
    const { runtimes } = await takeOver();
    expect(await runtimes.reconcile()).toMatchObject({ reaped: 0, kept: 1 });
    const runtime = await runtimes.acquire('conversation', { signal: never });
    expect(runtime.incarnation).toBe(incarnation);
    const action = runAction(runtime, 'a command that is not looked at any more', { id: 7, timestamp: '2020-01-01T00:00:00.000Z' });
    expect(await runtime.execute(action, { signal: never })).toMatchObject({ outcome: 'observed', observation: { observation: 'run' } });
    expect(readFileSync(join(workspace, 'count'), 'utf8')).toBe('began\nended\n');
    await runtimes.stop('conversation');
    expect([...leftOf(incarnation, sandboxes!.stateRoot), ...containersOf(engine, incarnation)]).toEqual([]);
  });

  it('SB57: the browser beside the container ends with the server, and what is left of it goes with the sandbox', async () => {
    const server = startServer([folder, driver, 'http://127.0.0.1:1/', '7']);
    const incarnation = await server.line('incarnation');
    expect(await server.line('result')).toContain('127.0.0.1:1');
    const browsers = (): readonly number[] => findProcesses(`browser/${incarnation}`, 'cmdline');
    expect(browsers()).not.toEqual([]);
    await server.kill();
    await until('the browser to end', () => browsers().length === 0);
    const { runtimes } = await takeOver();
    expect(await runtimes.reconcile()).toMatchObject({ reaped: 0, kept: 1 });
    await runtimes.stop('conversation');
    expect([...leftOf(incarnation, sandboxes!.stateRoot), ...containersOf(engine, incarnation)]).toEqual([]);
  });

  it('SB24: killed at any moment of a start, nothing is left that nobody knows', async () => {
    for (const afterMs of [0, 60, 150, 300, 500, 800]) {
      const server = startServer([folder, driver, 'true', '1']);
      await server.line('acquiring');
      await delay(afterMs); // where in the start it is hit is the point: any moment will do
      await server.kill();
    }
    const { runtimes, stateRoot } = await takeOver();
    await runtimes.reconcile();
    await runtimes.stop('conversation');
    expect(engine.command('ps', '--all', '--quiet')).toBe('');
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(folder);
    expect(leftOf(stateRoot, stateRoot)).toEqual([]);
  });

  it('SB32: without a server the executor ends by its lease, and the container with it', async () => {
    const server = startServer([folder, driver, 'true', '1', '1']);
    const incarnation = await server.line('incarnation');
    await server.kill();
    await until('the lease to run out', () => engine.command('ps', '--quiet').trim() === '');
    const { runtimes } = await takeOver();
    await runtimes.reconcile();
    expect(containersOf(engine, incarnation)).toEqual([]);
  });
});
