import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeWorkspace, pictureOf, type TestWorkspace } from './checkpoints.test-support.ts';

const FIXTURE = join(import.meta.dirname, 'fixtures/killed-restore.ts');

/** A workspace that differs from its checkpoint 1 in every way in which it can. */
async function changedWorkspace(): Promise<TestWorkspace & { readonly before: ReturnType<typeof pictureOf> }> {
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
  return { ...place, before };
}

it('CK710: a restore that is killed at any point is finished by the next executor', { timeout: 240_000 }, async () => {
  let point = 0;
  for (let isKilled = true; isKilled; point++) {
    const { workspace, stateDir, before, open } = await changedWorkspace();
    const { signal, status, stderr } = spawnSync(process.execPath, [
      '--conditions=tendon-source',
      FIXTURE,
      workspace,
      stateDir,
      String(point),
    ]);
    isKilled = signal === 'SIGKILL';
    expect([isKilled ? 0 : status, stderr.toString()]).toEqual([0, '']);
    const next = open();
    await next.ready();
    expect(pictureOf(workspace), `killed before change ${point}`).toEqual(before);
    next.close();
  }
  expect(point).toBeGreaterThan(10);
});
