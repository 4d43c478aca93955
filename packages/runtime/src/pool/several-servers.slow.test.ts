import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMemoryStorage } from '@tendon/core/storage';
import type { RecordStore } from '@tendon/core';
import { ACTIONS } from '@tendon/protocol';
import { createLocalDriver } from '../drivers/local/local-driver.ts';
import { isAlive, signalProcess } from '../processes/process-identity.ts';
import type { SandboxOwners } from '../sandbox/sandbox-owners.ts';
import type { SandboxRecord } from '../sandbox/sandbox-record.ts';
import {
  anchorOf,
  createTestSandboxes,
  executorFolder,
  never,
  observe,
  run,
  runAction,
  until,
  wallClock,
  type TestSandboxes,
  SANDBOX_TEST_MS,
} from '../testing/sandboxes.ts';
import type { SandboxPoolOptions } from './sandbox-pool.ts';

vi.setConfig({ testTimeout: SANDBOX_TEST_MS });
beforeAll(() => void executorFolder());

const GATED = 'echo began >> count; until test -e go; do sleep 0.02; done; echo ended >> count; echo done';

/** Servers of one machine, each with a home of its own, over one store. */
class Servers {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-several-')));
  readonly workspace = join(this.folder, 'workspace');
  readonly records: RecordStore = createMemoryStorage({ clock: wallClock }).records;
  /** The one that has the conversations, and how often they had another. */
  owner = { server: 1, epoch: 1 };

  constructor() {
    mkdirSync(this.workspace);
    onTestFinished(async () => {
      const all = await this.records.list<SandboxRecord>('sandboxes');
      await createLocalDriver({ executor: executorFolder() }).endIncarnations(all.map(({ value }) => value.incarnation));
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  start(server: number, options: Partial<SandboxPoolOptions> = {}): TestSandboxes {
    let epoch = this.owner.epoch;
    const owners: SandboxOwners = {
      has: () => this.owner.server === server,
      mayTouch: async () => this.owner.server === server || this.owner.server === 0,
      // What it believes: the epoch under which it took them.
      epochOf: () => (epoch = this.owner.server === server ? this.owner.epoch : epoch),
    };
    const home = join(this.folder, `home-${server}`);
    mkdirSync(home, { recursive: true });
    const given = { folder: home, records: this.records, workspaceOf: async () => ({ hostPath: this.workspace }), owners, ...options };
    const sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }), given);
    onTestFinished(() => sandboxes.runtimes.close());
    return sandboxes;
  }

  takeOver(server: number): void {
    this.owner = { server, epoch: this.owner.epoch + 1 };
  }

  async until(file: string): Promise<void> {
    await until(`the file ${file}`, () => existsSync(join(this.workspace, file)));
  }
}

const acquire = ({ runtimes }: TestSandboxes) => runtimes.acquire('a', { signal: never });

describe('two servers on one machine', () => {
  it('SB1050: the second attaches to the sandbox of the first, and to the action that runs in it', async () => {
    const servers = new Servers();
    const one = servers.start(1);
    const runtime = await acquire(one);
    const action = runAction(runtime, GATED, { timeout: 600 });
    const first = runtime.execute(action, { signal: never, isFresh: true });
    await servers.until('count');
    servers.takeOver(2);
    const two = servers.start(2);
    const found = await acquire(two);
    expect(found.incarnation).toBe(runtime.incarnation);
    const second = found.execute(action, { signal: never });
    writeFileSync(join(servers.workspace, 'go'), '');
    expect(await second).toMatchObject({ outcome: 'observed', observation: { content: 'done' } });
    await first;
    expect(readFileSync(join(servers.workspace, 'count'), 'utf8')).toBe('began\nended\n');
  });

  it('SB1050: the next sandbox is restored from the home and the state that the first server began, also on a third', async () => {
    const servers = new Servers();
    await run(await acquire(servers.start(1)), 'echo mine > ~/note; mkdir inner; cd inner; export MARK=yes');
    for (const server of [2, 3]) {
      servers.takeOver(server);
      const next = servers.start(server);
      expect((await run(await acquire(next), 'cat ~/note; echo "$MARK $(basename $PWD)"')).output).toBe('mine\nyes inner');
      expect(await next.runtimes.hibernate('a', { withKernel: true })).toBeUndefined();
      expect(await next.record('a')).toMatchObject({ state: 'asleep', host: { root: join(servers.folder, 'home-1', 'state') } });
    }
  });

  it('SB1051: a server that wakes up after another one took over starts and changes nothing, and lets go of the sandbox', async () => {
    const servers = new Servers();
    const one = servers.start(1);
    const zombie = await acquire(one);
    const anchor = anchorOf(await one.handle('a'));
    servers.takeOver(2);
    const two = servers.start(2);
    const owner = await acquire(two);
    await run(owner, 'true');
    const late = runAction(zombie, 'touch late');
    expect(await zombie.execute(late, { signal: never, isFresh: true })).toEqual({
      outcome: 'fenced',
      reason: expect.stringContaining('another server has taken the conversation over') as string,
    });
    await expect(zombie.files.write('late', Buffer.from('x'), { signal: never })).rejects.toMatchObject({ code: 'fenced' });
    await until('it to let go', () => one.runtimes.counts().running === 0);
    await one.runtimes.stop('a', { forGood: true });
    await one.runtimes.close({ stopSandboxes: true });
    expect(isAlive(anchor)).toBe(true);
    expect(existsSync(join(servers.workspace, 'late'))).toBe(false);
    // The sandbox's egress proxy is the owner's by now.
    expect((await run(owner, 'curl -sS --max-time 20 http://127.0.0.1.nip.invalid/ 2>&1')).output).toContain('Tendon');
  });

  it('SB1051: a server that holds sandboxes of conversations that it lost lets go of them by itself', async () => {
    const servers = new Servers();
    const one = servers.start(1, { idlePlan: { idleMs: 400 } });
    await acquire(one);
    const anchor = anchorOf(await one.handle('a'));
    servers.takeOver(2);
    await until('it to let go', () => one.runtimes.counts().running === 0);
    expect([isAlive(anchor), (await one.record('a'))?.state]).toEqual([true, 'live']);
  });

  it('SB1052: what is put in order at a start leaves the sandboxes of other living servers alone, and ends dead ones of nobody', async () => {
    const servers = new Servers();
    const one = servers.start(1);
    await acquire(one);
    const anchor = anchorOf(await one.handle('a'));
    const two = servers.start(2);
    expect(await two.runtimes.reconcile()).toEqual({ kept: 1, reaped: 0 });
    expect(await two.runtimes.reclaim({ all: true })).toEqual({ kept: 1, reaped: 0 });
    expect([isAlive(anchor), two.runtimes.current('a')]).toEqual([true, undefined]);
    await one.runtimes.close();
    signalProcess(anchor, 'SIGKILL');
    await until('it to be dead', () => !isAlive(anchor));
    expect(await two.runtimes.reconcile()).toEqual({ kept: 1, reaped: 0 });
    servers.takeOver(0);
    expect(await two.runtimes.reconcile()).toEqual({ kept: 0, reaped: 1 });
    expect((await two.record('a'))?.state).toBe('ended');
  });

  it('SB1052: a conversation whose workspace lies outside of what this server may use is put in order like any other', async () => {
    const servers = new Servers();
    const one = servers.start(1);
    await acquire(one);
    const anchor = anchorOf(await one.handle('a'));
    const two = servers.start(2, { workspaceOf: () => Promise.reject(new Error('outside of what this server may give to agents')) });
    expect(await two.runtimes.reclaim({ all: false })).toEqual({ kept: 1, reaped: 0 });
    await one.runtimes.close();
    signalProcess(anchor, 'SIGKILL');
    await until('it to be dead', () => !isAlive(anchor));
    servers.takeOver(0);
    expect(await two.runtimes.reconcile()).toEqual({ kept: 0, reaped: 1 });
  });

  it('SB1052: what a server notices of a sandbox is not reported of the next one', async () => {
    const servers = new Servers();
    const one = servers.start(1);
    await acquire(one);
    const anchor = anchorOf(await one.handle('a'));
    const record = (await one.record('a'))!;
    const newer = { ...record, incarnation: 'f'.repeat(16), state: 'starting' };
    await servers.records.put('sandboxes', { id: 'a', sort: record.started_at, value: newer });
    signalProcess(anchor, 'SIGKILL');
    await until('it to be found dead', () => one.runtimes.counts().running === 0);
    expect(await one.record('a')).toMatchObject({ incarnation: 'f'.repeat(16), state: 'starting' });
  });
});

/** As another machine would see it: its folders are not here, and what has their path is something else. */
async function onAnotherMachine({ records }: Servers, change: Partial<SandboxRecord> = {}): Promise<void> {
  const record = (await records.get<SandboxRecord>('sandboxes', 'a'))!;
  const host = { kind: 'machine', name: 'far-away', pids: 'another boot', root: '/nowhere', root_id: 'another' } as const;
  await records.put('sandboxes', { id: 'a', sort: record.started_at, value: { ...record, host, ...change } });
}

describe('a sandbox on another machine', () => {
  it('SB1053: counts as gone: what ran there has an unknown outcome, and the next sandbox says where the last one is', async () => {
    const servers = new Servers();
    const one = servers.start(1);
    const runtime = await acquire(one);
    const action = runAction(runtime, GATED, { timeout: 600 });
    void runtime.execute(action, { signal: never, isFresh: true });
    await servers.until('count');
    const anchor = anchorOf(await one.handle('a'));
    await onAnotherMachine(servers);
    servers.takeOver(2);
    const two = servers.start(2);
    expect(await two.runtimes.reconcile()).toEqual({ kept: 1, reaped: 0 });
    const next = await acquire(two);
    expect(next.incarnation).not.toBe(runtime.incarnation);
    expect(await next.execute(action, { signal: never })).toEqual({ outcome: 'unknown', reason: 'the sandbox that was to run it is gone' });
    const seen = await observe(next, { ...ACTIONS.run.create({ command: 'cat count' }), timeout: 60 });
    expect(JSON.stringify(seen)).toContain('on the machine far-away');
    expect(isAlive(anchor)).toBe(true); // nobody here may end it
  });

  it.each([
    ['is missing here', (workspace: string) => rmSync(workspace, { recursive: true })],
    [
      'has the path of another one here',
      (workspace: string) => (rmSync(workspace, { recursive: true }), mkdirSync(`${workspace}.`), mkdirSync(workspace)),
    ],
  ])('SB1054: a workspace that %s is reported to be there, and nothing is started', async (_, replace) => {
    const servers = new Servers();
    await run(await acquire(servers.start(1)), 'true');
    await onAnotherMachine(servers);
    servers.takeOver(2);
    replace(servers.workspace);
    const two = servers.start(2);
    await expect(acquire(two)).rejects.toThrow(
      `works in the folder ${servers.workspace} of the machine far-away, which this server cannot reach`,
    );
    expect(await two.record('a')).toMatchObject({ state: 'live', host: { name: 'far-away' } });
    expect(await two.runtimes.isWorkspaceEmpty!('a')).toBe(false);
    await two.runtimes.stop('a', { forGood: true });
  });

  it('SB1050: a record of a version that named no host is of this machine', async () => {
    const servers = new Servers();
    const one = servers.start(1);
    const runtime = await acquire(one);
    await one.runtimes.close();
    const { host: _host, workspace_is: _is, ...old } = (await one.record('a'))!;
    await servers.records.put('sandboxes', { id: 'a', sort: old.started_at, value: old });
    const again = servers.start(1);
    expect(await again.runtimes.reconcile()).toEqual({ kept: 1, reaped: 0 });
    expect(again.runtimes.current('a')?.incarnation).toBe(runtime.incarnation);
  });
});
