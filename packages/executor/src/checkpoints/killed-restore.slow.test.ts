import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { Journal } from '../effects/journal.ts';
import { startExecutor } from '../testing/start-executor.ts';
import { CheckpointStore } from './checkpoint-store.ts';
import { makeWorkspace, pictureOf, type TestWorkspace } from './checkpoints.test-support.ts';

const FIXTURE = join(import.meta.dirname, 'fixtures/killed-restore.ts');

type Picture = ReturnType<typeof pictureOf>;

/** A workspace that differs from its checkpoint 1 in every way in which it can. */
async function changedWorkspace(): Promise<TestWorkspace & { readonly before: Picture; readonly changed: Picture }> {
  const place = makeWorkspace();
  const at = (name: string): string => join(place.workspace, name);
  mkdirSync(at('gone/deep'), { recursive: true });
  for (const name of ['gone/a', 'gone/deep/b', 'changed', 'mode', 'becomes-folder']) writeFileSync(at(name), `content of ${name}`);
  symlinkSync('changed', at('link'));
  const checkpoints = place.open();
  await checkpoints.before('first');
  checkpoints.close();
  const before = pictureOf(place.workspace);
  for (const name of ['gone', 'link', 'becomes-folder']) rmSync(at(name), { recursive: true });
  mkdirSync(at('becomes-folder/new'), { recursive: true });
  for (const name of ['changed', 'added', 'becomes-folder/new/file', 'link']) writeFileSync(at(name), 'of later');
  chmodSync(at('mode'), 0o755);
  return { ...place, before, changed: pictureOf(place.workspace) };
}

itInFull(
  'CK710: a restore that is killed at any point is finished by the next executor, or never began',
  { timeout: 240_000 },
  async () => {
    const finished: boolean[] = [];
    for (let isKilled = true; isKilled;) {
      const point = finished.length;
      const { workspace, stateDir, before, changed, open } = await changedWorkspace();
      const args = ['--conditions=tendon-source', FIXTURE, workspace, stateDir, String(point)];
      const { signal, status, stderr } = spawnSync(process.execPath, args);
      isKilled = signal === 'SIGKILL';
      expect([isKilled ? 0 : status, stderr.toString()]).toEqual([0, '']);
      const isBegun = existsSync(join(stateDir, 'restoring.json'));
      const next = open();
      const keys: string[] = [];
      await next.finishRestore((key) => keys.push(key));
      expect(keys).toEqual(isBegun ? ['killed'] : []);
      expect(pictureOf(workspace), `killed before change ${point}`).toEqual(isBegun || !isKilled ? before : changed);
      finished.push(isBegun);
      await next.finishRestore(() => expect.unreachable('it was finished'));
      next.close();
    }
    expect(finished.filter(Boolean).length).toBeGreaterThan(10);
  },
);

it('CK714: the outcome of a restore that was cut off is answered by the next executor', async () => {
  const { workspace, stateDir } = makeWorkspace();
  const folders = { stateDir, workspace, workDir: workspace };
  const first = await startExecutor({ folders }, { HOME: stateDir });
  await first.run(`echo one > ${workspace}/a`);
  await first.run(`echo two > ${workspace}/a`);
  await first.kill();
  const store = new CheckpointStore(join(stateDir, 'checkpoints.db'));
  const { number, root } = store.last()!;
  store.close();
  const journal = new Journal(stateDir, 'one');
  journal.started('undo', 'a digest');
  journal.close();
  writeFileSync(join(stateDir, 'restoring.json'), JSON.stringify({ key: 'undo', number, target: root }));
  const second = await startExecutor({ folders, incarnation: 'two' }, { HOME: stateDir });
  onTestFinished(() => second.kill());
  expect(JSON.parse((await second.call('GET', '/effects/undo?digest=a+digest')).body)).toMatchObject({
    state: 'done',
    observation: { observation: 'restore_checkpoint', extras: { checkpoint: number, changed: 1, left: [] } },
  });
  expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('one\n');
});
