/** What is visible when, with a disk that answers on demand, or fails. */
import { execFileSync } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { message } from '../contract/message.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';

/** An fdatasync that waits until it is let through, once each. */
class SlowDisk {
  calls = 0;
  /** From now on every fdatasync fails with this. */
  broken: Error | undefined;
  held = false;
  #release: () => void = () => {};
  #reached: () => void = () => {};

  readonly fdatasync = async (file: FileHandle): Promise<void> => {
    this.calls += 1;
    this.#reached();
    if (this.held) await new Promise<void>((resolve) => (this.#release = resolve));
    if (this.broken) throw this.broken;
    await file.datasync();
  };

  /** Holds the disk and resolves when somebody waits for it. */
  hold(): Promise<void> {
    this.held = true;
    return new Promise((resolve) => (this.#reached = resolve));
  }

  letGo(): void {
    this.held = false;
    this.#release();
  }
}

describe('durability', () => {
  let database: TemporaryDatabase;
  let disk: SlowDisk;

  beforeEach(() => {
    database = temporaryDatabase();
    disk = new SlowDisk();
  });
  afterEach(() => database.dispose());

  it('EL4: nothing is visible before the disk has it, by no way of looking', async () => {
    const storage = await database.open({ fdatasync: disk.fdatasync });
    const log = await storage.events.open('c');
    await log.append([message('0')], { expectedId: 0 });
    await storage.records.put('things', { id: 'a', sort: '1', value: 'old' });
    const follower = log.follow(1, { signal: AbortSignal.timeout(20_000) })[Symbol.asyncIterator]();
    const live = follower.next();

    const waiting = disk.hold();
    const order: string[] = [];
    const appended = log.append([message('1')], { expectedId: 1 }).then(() => order.push('appended'));
    const put = storage.records.put('things', { id: 'a', sort: '2', value: 'new' }).then(() => order.push('put'));
    await waiting;
    const followed = live.then(() => order.push('followed'));
    const got = storage.records.get('things', 'a').then((value) => order.push(`got ${value}`));
    expect(log.nextId).toBe(1);
    expect(await log.read()).toHaveLength(1);
    expect(await log.read({ from: 1 })).toEqual([]);
    expect(order).toEqual([]);

    disk.letGo();
    await Promise.all([appended, put, followed, got]);
    expect(order).toHaveLength(4);
    expect(order).toContain('got new');
  });

  it('EL23: what waits for one fdatasync shares the next, over all conversations', async () => {
    const storage = await database.open({ fdatasync: disk.fdatasync });
    const logs = await Promise.all(Array.from({ length: 50 }, (_, index) => storage.events.open(`c${index}`)));
    const waiting = disk.hold();
    const first = storage.records.put('things', { id: 'a', sort: '1', value: 1 });
    await waiting;
    const before = disk.calls;
    const appends = logs.map((log) => log.append([message('x')], { expectedId: 0 }));
    disk.letGo();
    await Promise.all([first, ...appends]);
    expect(disk.calls - before).toBe(1);
  });

  it('EL23: one append is one fdatasync', async () => {
    const storage = await database.open({ fdatasync: disk.fdatasync });
    const log = await storage.events.open('c');
    const before = disk.calls;
    for (let id = 0; id < 10; id += 2) await log.append([message('x'), message('y')], { expectedId: id });
    expect(disk.calls - before).toBe(5);
  });

  it('EL2: the loser of a race hears of it when the winner is durable', async () => {
    const storage = await database.open({ fdatasync: disk.fdatasync });
    const log = await storage.events.open('c');
    const waiting = disk.hold();
    const winner = log.append([message('winner')], { expectedId: 0 });
    const loser = log.append([message('loser')], { expectedId: 0 }).catch((error: Error) => `${error.name} at ${log.nextId}`);
    await waiting;
    disk.letGo();
    await winner;
    expect(await loser).toBe('AppendConflict at 1');
  });

  it('EL18: when the disk fails, the appends concerned are rejected and nothing of them becomes visible', async () => {
    const storage = await database.open({ fdatasync: disk.fdatasync });
    const log = await storage.events.open('c');
    await log.append([message('stored')], { expectedId: 0 });
    await storage.records.put('things', { id: 'a', sort: '1', value: 'stored' });

    disk.broken = new Error('EIO');
    const failed = { name: 'StorageError', code: 'failed', message: expect.stringContaining('EIO') };
    const concerned = [
      log.append([message('lost')], { expectedId: 1 }),
      storage.records.put('things', { id: 'a', sort: '1', value: 'lost' }),
    ];
    for (const write of concerned) await expect(write).rejects.toMatchObject(failed);
    expect(log.nextId).toBe(1);
    expect(await log.read()).toHaveLength(1);

    // The kernel would answer "fine" the next time. It is not asked.
    disk.broken = undefined;
    const calls = disk.calls;
    await expect(log.append([message('later')], { expectedId: 1 })).rejects.toMatchObject(failed);
    await expect(storage.records.get('things', 'a')).rejects.toMatchObject(failed);
    await expect(storage.events.open('other')).rejects.toMatchObject(failed);
    expect(disk.calls).toBe(calls);
    expect(await log.read()).toHaveLength(1);

    await storage.close();
    const again = await database.open();
    const [stored] = await (await again.events.open('c')).read();
    expect(stored).toMatchObject({ args: { content: 'stored' } });
  });

  it('EL18: writes that waited behind the failing one are rejected as well', async () => {
    const storage = await database.open({ fdatasync: disk.fdatasync });
    const log = await storage.events.open('c');
    const waiting = disk.hold();
    const first = log.append([message('0')], { expectedId: 0 });
    await waiting;
    const second = storage.records.put('things', { id: 'a', sort: '1', value: 1 });
    const read = storage.records.get('things', 'a');
    disk.broken = new Error('EIO');
    disk.letGo();
    const outcomes = await Promise.allSettled([first, second, read]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  it('EL22: closing waits for the disk', async () => {
    const storage = await database.open({ fdatasync: disk.fdatasync });
    const log = await storage.events.open('c');
    const waiting = disk.hold();
    const order: string[] = [];
    const appended = log.append([message('0')], { expectedId: 0 }).then(() => order.push('appended'));
    await waiting;
    const closed = storage.close().then(() => order.push('closed'));
    disk.letGo();
    await Promise.all([appended, closed]);
    expect(order).toEqual(['appended', 'closed']);
  });

  it('EL17: on a full disk the write is undone and rejected, and later ones succeed when there is space', () => {
    const program = join(import.meta.dirname, 'fixtures/full-disk.ts');
    const output = execFileSync(process.execPath, ['--conditions=tendon-source', program, database.path, database.blobDir], {
      encoding: 'utf8',
    });
    expect(JSON.parse(output)).toEqual({
      row: 'StorageError undone',
      beside: 'stored',
      payload: 'StorageError undone',
      file: 'StorageError undone',
      later: [0, 1, 2],
      contents: ['before', 'beside', 'after'],
      findings: [],
    });
  });
});
