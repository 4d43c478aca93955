/** A person's own project on this host, sandboxes in it, and what the person's tools do there afterwards. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxDriver } from '@tendon/runtime';
import { laySwap, swapWorkspaces, type Swapped } from './swap-workspaces.ts';

export const NAMES = ['.git', '.vscode', '.idea', '.envrc'];

export interface Project {
  readonly folder: string;
  /** Git as the person runs it on the host. */
  git(...args: readonly string[]): string;
  /** Whether something of the agent's has run on the host. */
  hasRun(): boolean;
  /** Everything in the top folder and in `.git`, to compare. */
  names(): readonly string[];
}

/** A repository with a commit, an origin, and a folder `.vscode`. */
export function layProject(folder: string, owner?: { readonly uid: number; readonly gid: number }): Project {
  const project = join(folder, 'project');
  const marker = join(folder, 'ran-on-the-host');
  mkdirSync(project, { recursive: true });
  const identity = { uid: process.getuid?.(), gid: process.getgid?.(), ...owner };
  if (owner) for (const path of [folder, project]) chownSync(path, owner.uid, owner.gid);
  const git = (...args: readonly string[]): string => {
    const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
    const who = ['-c', 'user.name=p', '-c', 'user.email=p@example.org'];
    const result = execFileSync('git', ['-C', project, ...who, ...args], {
      ...identity,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return result.trim();
  };
  git('init', '-q', '-b', 'main');
  git('init', '-q', '--bare', '../origin.git');
  git('config', 'remote.origin.url', join(folder, 'origin.git'));
  git('config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*');
  const write = (path: string, text: string): void => {
    mkdirSync(join(project, path, '..'), { recursive: true });
    writeFileSync(join(project, path), text);
    if (owner) for (const each of [join(project, path, '..'), join(project, path)]) chownSync(each, owner.uid, owner.gid);
  };
  write('file', 'x\n');
  write('.vscode/settings.json', '{}\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  git('push', '-q', 'origin', 'main');
  chmodSync(folder, 0o755);
  return {
    folder: project,
    git,
    hasRun: () => existsSync(marker),
    names: () => [...readdirSync(project), ...readdirSync(join(project, '.git'))],
  };
}

/** What an agent would leave so that the person's tools run it; each line is tried, and says whether it worked. */
export function leavings(marker: string): string {
  const run = `touch ${marker}`;
  const hook = (path: string): string => `mkdir -p "$(dirname ${path})" && printf '#!/bin/sh\\n${run}\\n' > ${path} && chmod 755 ${path}`;
  const tries: Readonly<Record<string, string>> = {
    config: `git config core.fsmonitor '${run}; false'`,
    'config by hand': `printf '[core]\\n\\tfsmonitor = "${run}; false"\\n' >> .git/config`,
    hook: hook('.git/hooks/post-index-change'),
    'a link for the hooks': 'ln -sfn /workspace/mine .git/hooks/post-checkout',
    commondir: 'echo ../.git > .git/commondir',
    'commondir anew': 'rm -f .git/commondir && echo ../.git > .git/commondir',
    tasks: "echo '{}' > .vscode/tasks.json",
    idea: 'mkdir -p .idea && echo x > .idea/workspace.xml',
    'another .idea': 'rmdir .idea && mkdir .idea && echo x > .idea/workspace.xml',
    envrc: `echo '${run}' > .envrc`,
    'envrc in its place': `rmdir .envrc && echo '${run}' > .envrc`,
    'another .vscode': 'mv .vscode .vscode-aside',
    'mounting it away': "unshare -Urm sh -c 'umount .git/config || mount -o remount,rw,bind .git/config' && git config a.b c",
    'another folder of hooks': 'mv .git/hooks .git/hooks-aside && mv .git/hooks-aside .git/hooks',
    'another .git': 'mv .git .git-aside && mv .git-aside .git',
  };
  return Object.entries(tries)
    .map(([name, script]) => `if (${script}) > /dev/null 2>&1; then echo "LEFT ${name}"; fi`)
    .join('\n');
}

/** Sandboxes in a person's folder with a project below that is swapped for a link to a folder outside, a repository too. */
export function swapInnerProject(driver: SandboxDriver, { base }: { readonly base: string }, starts: number): Promise<Swapped> {
  const { inner, outside } = laySwap(base);
  for (const folder of [inner, outside]) execFileSync('git', ['init', '-q', folder]);
  const command = 'touch inner/written; echo [core] >> inner/.git/config; ls -A inner inner/.git';
  return swapWorkspaces(driver, { base, hostPath: base, command }, starts);
}

/**
 * The same with a link that leads out only while bubblewrap makes its mounts: the host's root is at `/oldroot` then. Outside are the
 * folders of the repositories, and none of what is protected in one.
 */
export function swapBelowOldRoot(driver: SandboxDriver, { base }: { readonly base: string }, starts: number): Promise<Swapped> {
  mkdirSync(base, { recursive: true });
  symlinkSync(join('/oldroot', base, '../outside'), join(base, 'link'));
  const { inner, outside } = laySwap(base);
  for (const name of ['one', 'two']) {
    mkdirSync(join(outside, name));
    execFileSync('git', ['init', '-q', join(inner, name)]);
  }
  return swapWorkspaces(driver, { base, hostPath: base, command: 'ls -A inner' }, starts);
}
