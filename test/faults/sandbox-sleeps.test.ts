import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Storage } from '@tendon/core';
import { isAlive } from '../../packages/runtime/src/drivers/process-identity.ts';
import { createTestSandboxes, leftOf, never, run, runAction, type TestSandboxes } from '../../packages/runtime/src/sandbox.test-support.ts';
import { openDriver, openStorage } from './sandbox-drivers.ts';
import { servers, startServer } from './sandbox-server-process.ts';

/** Killed anywhere on the way to sleep. */
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
  sandboxes = storage = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const SET_UP = 'mkdir -p inner && cd inner && export KEPT=yes && echo x > /tmp/file && echo once >> ../count';
/** No other action here has it. */
const SET_UP_ID = '1000000';
const LOOK = 'echo "$KEPT $(basename "$PWD") $(cat /tmp/file 2>&1)"';

async function takeOver(): Promise<TestSandboxes> {
  storage = await openStorage(folder);
  const workspaceOf = async () => ({ hostPath: join(folder, 'workspace') });
  sandboxes = createTestSandboxes(openDriver('local'), { folder, records: storage.records, workspaceOf });
  return sandboxes;
}

it.each([0, 20, 40, 60, 80, 110, 150, 250])(
  'SB92: the server killed %d ms after its sandbox was last used: nothing is lost or done twice',
  async (afterMs) => {
    const server = startServer([folder, 'local', SET_UP, SET_UP_ID, '600', '40']);
    const first = await server.line('incarnation');
    await server.line('result');
    await delay(afterMs); // where on the way to sleep it is hit is the point: any moment will do
    await server.kill();
    const { runtimes, stateRoot } = await takeOver();
    await runtimes.reconcile();
    const runtime = await runtimes.acquire('conversation', { signal: never });
    const action = runAction(runtime, 'not looked at any more', {
      id: Number(SET_UP_ID),
      executor: first,
      timestamp: '2020-01-01T00:00:00.000Z',
    });
    expect(await runtime.execute(action, { signal: never })).toMatchObject({ outcome: 'observed', observation: { observation: 'run' } });
    const seen = await look(runtimes);
    expect(seen).toBe('yes inner x');
    expect(readFileSync(join(folder, 'workspace/count'), 'utf8')).toBe('once\n');
    const isAnother = runtimes.current('conversation')?.incarnation !== first;
    expect(isAnother ? leftOf(first, stateRoot) : []).toEqual([]);
  },
);

it.each([0, 10, 20, 30, 40, 60])(
  'SB92: the executor killed %d ms into going to sleep: the next one works, with all or with nothing',
  async (afterMs) => {
    mkdirSync(join(folder, 'workspace'));
    const { runtimes, handle } = await takeOverSleeping();
    const runtime = await runtimes.acquire('conversation', { signal: never });
    await run(runtime, SET_UP);
    const { anchor } = await handle('conversation');
    await delay(afterMs);
    try {
      process.kill(anchor!.pid, 'SIGKILL');
    } catch {
      // it slept already
    }
    await expect.poll(() => isAlive(anchor!)).toBe(false); // until then it may take an action along, whose outcome is unknown
    expect(await look(runtimes)).toMatch(/^(yes inner x| workspace cat: .*)$/);
    expect(readFileSync(join(folder, 'workspace/count'), 'utf8')).toBe('once\n');
  },
);

async function takeOverSleeping(): Promise<TestSandboxes> {
  storage = await openStorage(folder);
  sandboxes = createTestSandboxes(openDriver('local'), {
    folder,
    records: storage.records,
    workspaceOf: async () => ({ hostPath: join(folder, 'workspace') }),
    rest: { idleMs: 50 },
  });
  return sandboxes;
}

/** As the engine does: what certainly did not run is tried again, and nothing else. */
async function look(runtimes: TestSandboxes['runtimes']): Promise<string> {
  for (;;) {
    const runtime = await runtimes.acquire('conversation', { signal: never });
    const result = await runtime.execute(runAction(runtime, LOOK), { signal: never });
    if (result.outcome !== 'not-started') return result.outcome === 'observed' ? result.observation.content : result.reason;
  }
}
