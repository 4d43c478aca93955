import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLocalDriver } from '@tendon/runtime';
import { anchorOf, createTestSandboxes, executorFolder, isAlive, never, observe, run, signalProcess, until } from '@tendon/runtime/testing';
import { itInFull, runs } from '@tendon/testing';
import { asOrdinaryUser, IS_ROOT } from './as-ordinary-user.ts';
import { layProject, leavings, NAMES, swapInnerProject, type Project } from './protected-paths.ts';
import type { Swapped } from './swap-workspaces.ts';

/** Of sandboxes in a folder that is swapped meanwhile. */
const STARTS = runs(80, 5);

function place(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-protected-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function open(project: Project, protects: readonly string[] = NAMES) {
  const driver = createLocalDriver({ executor: executorFolder(), protects });
  const sandboxes = createTestSandboxes(driver, { workspaceOf: async () => ({ hostPath: project.folder }) });
  onTestFinished(() => sandboxes.close());
  return { ...sandboxes, acquire: (id = 'c') => sandboxes.runtimes.acquire(id, { signal: never }) };
}

it('SB470: what an agent leaves in a person’s project is run by none of the person’s tools', async () => {
  const folder = place();
  const project = layProject(folder);
  const before = project.names();
  const sandboxes = open(project);
  const runtime = await sandboxes.acquire();
  expect((await run(runtime, leavings(join(folder, 'ran-on-the-host')))).output).toBe('');
  project.git('status');
  project.git('checkout', '-q', '-b', 'mine');
  expect(project.hasRun()).toBe(false);
  await sandboxes.runtimes.stop('c');
  expect(project.names().toSorted()).toEqual([...before].toSorted());
});

it('SB470: without the protection it is run, so what is tried is real', async () => {
  const folder = place();
  const project = layProject(folder);
  const runtime = await open(project, []).acquire();
  expect((await run(runtime, leavings(join(folder, 'ran-on-the-host')))).output).toMatch(/LEFT config\n[^]*LEFT hook\n[^]*LEFT tasks\n/);
  project.git('status');
  expect(project.hasRun()).toBe(true);
});

it('SB471: git goes on working inside', async () => {
  const folder = place();
  const project = layProject(folder);
  const origin = join(project.folder, '../origin.git');
  // The origin is out of reach of the sandbox; one that is in it stands for a host.
  project.git('clone', '-q', '--bare', origin, join(project.folder, 'origin.git'));
  project.git('config', 'remote.origin.url', '/workspace/origin.git');
  const runtime = await open(project).acquire();
  const script = `set -e
git config --global user.name agent; git config --global user.email a@example.org
echo more >> file; git add file; git commit -q -m second; git branch extra; git checkout -q -b feature; echo y > new; git add new
git commit -q -m third; git stash list; git fetch -q; git push -q -u origin feature; git branch --track other origin/main > /dev/null
git checkout -q -b again origin/main; git checkout -q feature; git tag one; git gc -q; git worktree add -q ../tmp/tree 2> /dev/null; git status --porcelain; git log --format=%s`;
  const { output, exitCode } = await run(runtime, `(${script}) 2>&1 | grep -v 'could not write config file'`);
  expect([output, exitCode]).toEqual(['?? origin.git/\nthird\nsecond\nfirst', 0]);
  expect(project.git('log', '--format=%s', 'feature')).toBe('third\nsecond\nfirst');
  expect((await run(runtime, 'git ls-remote -q origin feature')).output).toContain('refs/heads/feature');
});

it('SB472: what is read-only is reported in words, by commands, the editor and uploads alike', async () => {
  const project = layProject(place());
  const runtime = await open(project).acquire();
  const words = /read-only in this sandbox[^]*SANDBOX_PROTECTED_PATHS/;
  const observation = await observe(runtime, { action: 'run', args: { command: 'git config user.name agent' } });
  expect(JSON.stringify(observation)).toMatch(words);
  expect(JSON.stringify(observation)).toContain('git config --global');
  for (const path of ['.vscode/tasks.json', '.idea/new/file', '.git/hooks/pre-commit', '.git/config', '.envrc']) {
    const args = { path: `/workspace/${path}` };
    expect(JSON.stringify(await observe(runtime, { action: 'write', args: { ...args, content: 'x' } }))).toMatch(words);
    const edit = { ...args, command: 'create', file_text: 'x', impl_source: 'oh_aci' };
    expect(JSON.stringify(await observe(runtime, { action: 'edit', args: edit }))).toMatch(words);
    await expect(runtime.files.write(path, Buffer.from('x'), { signal: never })).rejects.toThrow(words);
  }
  await runtime.files.write('src/new.ts', Buffer.from('x'), { signal: never });
  expect(readFileSync(join(project.folder, 'src/new.ts'), 'utf8')).toBe('x');
});

it('SB473: links, folders of hooks in other places, included files, submodules, worktrees and repositories below are found', async () => {
  const folder = place();
  const project = layProject(folder);
  const at = (path: string): string => join(project.folder, path);
  for (const path of ['tools/hooks', '.husky/_', 'shared', 'below/inner', 'sub']) mkdirSync(at(path), { recursive: true });
  writeFileSync(at('shared/gitconfig'), '[core]\n');
  rmSync(at('.git/hooks'), { recursive: true });
  symlinkSync('../tools/hooks', at('.git/hooks'));
  project.git('config', 'core.hooksPath', '.husky/_');
  project.git('config', 'include.path', '../shared/gitconfig');
  for (const path of ['below/inner', 'sub']) execFileSync('git', ['init', '-q', at(path)]);
  project.git('-C', 'sub', 'commit', '-q', '--allow-empty', '-m', 'sub');
  project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', '--force', './sub', 'sub');
  project.git('submodule', '--quiet', 'absorbgitdirs');
  project.git('worktree', 'add', '-q', '../tree');
  execFileSync('git', ['init', '-q', '--bare', at('below/bare.git')]);
  const runtime = await open(project).acquire();
  const held = ['tools/hooks/pre-commit', '.husky/_/pre-commit', '.husky/pre-commit', 'shared/gitconfig', 'below/inner/.git/config'].concat(
    ['below/inner/.vscode/tasks.json', 'sub/.git', '.git/modules/sub/config', '.git/modules/sub/hooks/x', '.git/modules/sub/commondir'],
    ['.git/worktrees/tree/commondir', 'below/bare.git/config', 'below/bare.git/hooks/update'],
  );
  const tries = held.map((path) => `(echo x >> ${path}) 2> /dev/null && echo LEFT ${path}`);
  const moves = ['sub', 'below', 'below/inner', 'tools', '.husky', 'shared', '.git/modules', '.git/modules/sub', '.git/worktrees/tree'];
  const moved = moves.map((path) => `mv ${path} moved 2> /dev/null && echo MOVED ${path}`);
  expect((await run(runtime, [...tries, ...moved, 'true'].join('\n'))).output).toBe('');
  expect(
    (await run(runtime, 'echo x > below/inner/file && cd below/inner && git add file && git -c user.name=a -c user.email=a@b commit -qm x'))
      .exitCode,
  ).toBe(0);
});

it('SB566: repositories and worktrees in hidden folders are found, and what a file called .git leads to', async () => {
  const project = layProject(place());
  const at = (path: string): string => join(project.folder, path);
  project.git('clone', '-q', '--bare', '.', 'hub/.bare');
  writeFileSync(at('hub/.git'), 'gitdir: ./.bare\n');
  project.git('-C', 'hub', 'worktree', 'add', '-q', '.worktrees/tree');
  project.git('worktree', 'add', '-q', '.agents/worktrees/tree');
  project.git('clone', '-q', '--bare', '.', 'node_modules/real');
  mkdirSync(at('led'));
  writeFileSync(at('led/.git'), 'gitdir: ../node_modules/real\n');
  const runtime = await open(project).acquire();
  const held = ['hub/.git', 'hub/.bare/config', 'hub/.bare/hooks/x', 'hub/.bare/worktrees/tree/commondir'].concat([
    'hub/.worktrees/tree/.vscode/tasks.json',
    '.agents/worktrees/tree/.envrc',
    'led/.git',
    'node_modules/real/config',
  ]);
  const tries = held.map((path) => `(echo x >> ${path}) 2> /dev/null && echo LEFT ${path}`);
  const moved = ['hub/.bare', 'hub/.worktrees', '.agents/worktrees', 'node_modules/real'].map(
    (path) => `mv ${path} ${path}-aside 2> /dev/null && echo MOVED ${path}`,
  );
  expect((await run(runtime, [...tries, ...moved, 'git -C hub branch extra && git -C led branch extra'].join('\n'))).output).toBe('');
});

it('SB474: nothing is left in the folder, though sandboxes share it, and one that goes takes nothing from another', async () => {
  const project = layProject(place());
  const before = project.names();
  const sandboxes = open(project);
  await sandboxes.acquire('one');
  const two = await sandboxes.acquire('two');
  await sandboxes.runtimes.stop('one');
  expect(existsSync(join(project.folder, '.envrc'))).toBe(true);
  expect(
    (await run(two, 'echo x > .idea/file; rmdir .envrc; echo x > .envrc; echo > .git/commondir; git status --porcelain')).output,
  ).not.toMatch(/^\?\?/m);
  expect(existsSync(join(project.folder, '.idea/file'))).toBe(false);
  await sandboxes.runtimes.stop('two');
  expect(project.names()).toEqual(before);
});

itInFull('SB474: nor after a crash of the server and its sandbox; what the person has put there stays', async () => {
  const project = layProject(place());
  const before = project.names();
  const sandboxes = open(project);
  await sandboxes.acquire();
  const anchor = anchorOf(await sandboxes.handle('c'));
  writeFileSync(join(project.folder, '.idea/mine'), 'x');
  const next = await sandboxes.restart();
  signalProcess(anchor, 'SIGKILL');
  await until('its end', () => !isAlive(anchor));
  await next.reconcile();
  expect(project.names()).toEqual([...before.filter((name) => name < '.idea'), '.idea', ...before.filter((name) => name > '.idea')]);
  expect(readFileSync(join(project.folder, '.idea/mine'), 'utf8')).toBe('x');
});

it('SB475: what is replaced on the host is protected again before the next action, and the shell goes on where it was', async () => {
  const folder = place();
  const project = layProject(folder);
  const sandboxes = open(project);
  await run(await sandboxes.acquire(), 'mkdir -p deep; cd deep; STORED=yes');
  project.git('config', 'user.name', 'person'); // git writes a new file and renames it: the mount on the old one is gone
  const runtime = await sandboxes.acquire();
  expect(
    (await run(runtime, `git config core.fsmonitor 'touch ${folder}/ran-on-the-host' 2> /dev/null || echo held; echo $STORED; pwd`)).output,
  ).toBe('held\nyes\n/workspace/deep');
});

itInFull('SB475: so is what became a file on the way to a protected path', async () => {
  const project = layProject(place());
  const sandboxes = open(project);
  const before = await sandboxes.acquire();
  rmSync(join(project.folder, '.git'), { recursive: true });
  writeFileSync(join(project.folder, '.git'), 'gitdir: ../another-place\n');
  expect(sandboxes.runtimes.current('c')).toBeUndefined();
  const runtime = await sandboxes.acquire();
  expect(runtime.incarnation).not.toBe(before.incarnation);
  expect((await run(runtime, 'echo x 2> /dev/null > .git || echo held')).output).toBe('held');
});

it('SB476: nothing is held in a folder that was made for the conversation, nor in an empty one, nor where it is off', async () => {
  const folder = place();
  const made = join(folder, 'workspaces/c');
  mkdirSync(made, { recursive: true });
  execFileSync('git', ['init', '-q', made]);
  const driver = createLocalDriver({ executor: executorFolder(), protects: NAMES, workspacesFolder: join(folder, 'workspaces') });
  const sandboxes = createTestSandboxes(driver, { workspaceOf: async (id) => ({ hostPath: id === 'c' ? made : join(folder, id) }) });
  onTestFinished(() => sandboxes.close());
  mkdirSync(join(folder, 'empty'));
  for (const id of ['c', 'empty']) {
    const runtime = await sandboxes.runtimes.acquire(id, { signal: never });
    expect(
      (await run(runtime, 'git init -q; git config user.name a && mkdir .vscode && echo x > .vscode/tasks.json && ls -A')).output,
    ).toBe('.git  .vscode');
  }
});

it('SB470, SB477: nor where the server is an ordinary user', () => {
  if (!IS_ROOT) return; // then the others prove it
  const { swapped, ...left } = asOrdinaryUser<{ swapped: Swapped }>('ordinary-user-project.ts', place(), 'local', String(STARTS));
  expect(left).toEqual({ output: '', hasRun: false, commits: 'second\nfirst', names: [] });
  expectHeld(swapped);
});

interface Mounted {
  readonly description: string;
  /** To bubblewrap: paths below the workspace. */
  readonly given: readonly string[];
  readonly left: number;
  readonly status: string;
}

it('SB730, SB731, SB732: an ordinary user mounts what is protected by descriptors, with the same rights inside, or says that it does not', () => {
  const folder = place();
  const answer = asOrdinaryUser<Record<string, Mounted>>('ordinary-user-mounts.ts', folder, String(STARTS));
  const { byDescriptor, byName, unprotected } = answer as Record<'byDescriptor' | 'byName' | 'unprotected', Mounted>;
  expect(byDescriptor).toMatchObject({ given: [], left: 0 });
  expect(byDescriptor.description).not.toMatch(/BY NAME/);
  expect(byName).toMatchObject({ given: expect.arrayContaining(['/workspace/.vscode']), left: 0 });
  expect(byName.description).toMatch(/PROTECTED PATHS BY NAME \(no perl here\)$/);
  expect(unprotected).toMatchObject({ given: [], left: 1 });
  expect(byDescriptor.status).toMatch(/CapEff:\t0+\n[^]*NoNewPrivs:\t1\n[^]*Seccomp:\t2\n/);
  expect([byName.status, unprotected.status]).toEqual([byDescriptor.status, byDescriptor.status]);
  const { swapped } = answer as unknown as { readonly swapped: Swapped };
  expectHeld(swapped);
});

it('SB565: what an agent has closed to a server of its own user is not taken for nothing: the start is refused in words', () => {
  const refusals = asOrdinaryUser<readonly string[]>('ordinary-user-closed.ts', place());
  expect(refusals).toEqual(
    ['.git', 'below', 'below/inner/.git'].map((path) => expect.stringMatching(`${path} in the workspace cannot be read \\(EACCES\\)`)),
  );
});

itInFull('SB477: a project that is swapped for a link while sandboxes start leads nowhere else', async () => {
  const swapped = await swapInnerProject(
    createLocalDriver({ executor: executorFolder(), protects: NAMES }),
    { base: join(place(), 'base') },
    STARTS,
  );
  expectHeld(swapped);
});

function expectHeld({ swaps, real, refused, escaped }: Swapped): void {
  expect(escaped).toEqual([]);
  expect(swaps).toBeGreaterThanOrEqual(10_000);
  expect(real + refused.length).toBeGreaterThan(0);
  for (const refusal of refused)
    expect(refusal).toMatch(
      /did not start[^]*(?:was exchanged while|has been put in the place|bwrap: Can't|no folder any more|cannot be held)/,
    );
}
