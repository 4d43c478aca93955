import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';
import { pictureOf } from './checkpoints.test-support.ts';

async function start(): Promise<TestExecutor> {
  const executor = await startExecutor();
  onTestFinished(() => executor.kill());
  return executor;
}

async function newest(executor: TestExecutor): Promise<number> {
  const { checkpoints } = JSON.parse((await executor.call('GET', '/checkpoints')).body) as { checkpoints: { number: number }[] };
  return checkpoints[0]!.number;
}

/** What a person sees in the folder, without what the sandbox keeps in its home, which is the workspace here. */
function work(workspace: string): Record<string, string> {
  return Object.fromEntries(Object.entries(pictureOf(workspace)).filter(([path]) => !path.startsWith('/.')));
}

const HARM = [
  'rm -rf *',
  'git reset -q --hard',
  'git clean -fdqx',
  'chmod -R 000 src || true',
  'printf x > src/tracked; mv src moved',
  'truncate -s 0 src/untracked',
];

it(
  'CK711: what a command, a write and an edit do to the workspace is undone; the history of the user is not touched',
  { timeout: 120_000 },
  async () => {
    const executor = await start();
    const { workspace } = executor;
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', workspace, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { encoding: 'utf8' });
    mkdirSync(join(workspace, 'src'));
    writeFileSync(join(workspace, 'src/tracked'), 'one\n');
    git('init', '-q');
    git('add', 'src/tracked');
    git('commit', '-qm', 'first');
    const history = readFileSync(join(workspace, '.git/HEAD'), 'utf8') + git('rev-parse', 'HEAD');
    writeFileSync(join(workspace, 'src/tracked'), 'two, not committed\n');
    writeFileSync(join(workspace, 'src/untracked'), 'three\n');
    const before = work(workspace);
    const steps = [
      ...HARM.map((command) => () => executor.run(command)),
      () => executor.act('write', { path: join(workspace, 'src/untracked'), content: 'overwritten' }),
      () => executor.act('edit', { command: 'str_replace', path: join(workspace, 'src/tracked'), old_str: 'two', new_str: 'TWO' }),
    ];
    for (const [index, step] of steps.entries()) {
      await step();
      expect(work(workspace), `step ${index}`).not.toEqual(before);
      const outcome = await executor.act('restore_checkpoint', { checkpoint: 1 });
      expect(outcome).toMatchObject({ observation: 'restore_checkpoint', extras: { checkpoint: 1, left: [] } });
      expect(work(workspace), `step ${index}`).toEqual(before);
    }
    expect(await newest(executor)).toBeGreaterThan(1);
    expect(readFileSync(join(workspace, '.git/HEAD'), 'utf8') + git('rev-parse', 'HEAD')).toBe(history);
    expect(git('config', '--local', '--list')).not.toContain('tendon');
  },
);

it('CK810: a command that destroys is preceded by a checkpoint also where they are off', async () => {
  const executor = await startExecutor({ checkpoints: false });
  onTestFinished(() => executor.kill());
  const { workspace } = executor;
  for (const name of ['a', 'b']) writeFileSync(join(workspace, name), name);
  await executor.run('echo A > a');
  expect((await executor.call('GET', '/checkpoints')).body).toContain('"checkpoints":[]');
  const before = work(workspace);
  await executor.run('rm -rf a b');
  expect(await newest(executor)).toBe(1);
  await executor.act('restore_checkpoint', { checkpoint: 1 });
  expect(work(workspace)).toEqual(before);
});

it('CK811: what a restore would do to the files is shown first, and changes nothing', async () => {
  const executor = await start();
  const { workspace } = executor;
  mkdirSync(join(workspace, 'folder'));
  for (const name of ['changed', 'gone', 'folder/gone', 'same']) writeFileSync(join(workspace, name), name);
  await executor.run('echo later > changed; rm -r gone folder; mkdir new; echo x > new/file; ln -s same link');
  const now = work(workspace);
  const { body } = await executor.call('POST', '/compare_checkpoint', { checkpoint: 1 });
  const { count, changes } = JSON.parse(body) as { count: number; changes: { path: string }[] };
  expect({ count, changes: changes.filter(({ path }) => !path.startsWith('.')) }).toEqual({
    count: changes.length,
    changes: [
      { path: 'changed', change: 'changed' },
      { path: 'folder/gone', change: 'added' },
      { path: 'gone', change: 'added' },
      { path: 'link', change: 'removed' },
      { path: 'new/file', change: 'removed' },
    ],
  });
  expect([work(workspace), await newest(executor)]).toEqual([now, 1]);
});

it('CK712: reading makes no checkpoint, and the store is not in what commands see', async () => {
  const executor = await start();
  writeFileSync(join(executor.workspace, 'a'), 'a');
  await executor.act('read', { path: join(executor.workspace, 'a') });
  expect((await executor.call('GET', '/checkpoints')).body).toContain('"checkpoints":[]');
  await executor.run('true');
  expect(await newest(executor)).toBe(1);
  const { content } = await executor.run(`ls ${executor.config.folders.stateDir}`);
  expect(content).not.toContain('checkpoints.db');
});

it('CK713: a checkpoint that is not there is refused in words', async () => {
  const executor = await start();
  await executor.run('true');
  const outcome = await executor.act('restore_checkpoint', { checkpoint: 99 });
  expect(outcome).toMatchObject({ observation: 'error', content: expect.stringContaining('there is no checkpoint 99') as string });
});
