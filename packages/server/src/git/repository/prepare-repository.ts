import { randomInt } from 'node:crypto';
import type { Runtime } from '@tendon/core';
import { shellQuote } from '@tendon/protocol/executor-api';
import { runSandboxCommand, type CommandOutput } from '../../sandboxes/sandbox-command.ts';
import { cloneFailure, cloneProgress } from './clone-progress.ts';
import { CLONE_EXIT, cloneScript, HOOK_SCRIPT } from './clone-script.ts';
import type { CloneLimits } from '../../platform/config/clone-config.ts';
import type { RepositorySource } from '../../git-providers/repository-source.ts';

export interface PrepareOptions {
  readonly limits: CloneLimits;
  /** Who commits, where the sandbox does not know. */
  readonly user: { readonly name: string; readonly email: string };
  readonly now: () => Date;
  readonly onProgress: (words: string) => void;
}

const MAX_OUTPUT = 256 * 1024;
const HOOK_SECONDS = 20;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Clones it in the sandbox. What a person is told when it could not be had, or `undefined`. */
export async function cloneRepository(runtime: Runtime, source: RepositorySource, options: PrepareOptions): Promise<string | undefined> {
  const { limits, user } = options;
  const script = cloneScript({ ...source, newBranch: newBranch(), ...limits, user });
  const done = await inWorkspace(runtime, script, { cwd: '', timeoutSeconds: limits.timeoutSeconds, ...options });
  const { done: isDone, wasThere, inTheWay, noGit } = CLONE_EXIT;
  if (done.exitCode === isDone || done.exitCode === wasThere) return undefined;
  if (done.exitCode === noGit) return 'there is no git in the sandbox. Install git where the sandbox takes its programs from.';
  if (done.exitCode === inTheWay)
    return `the workspace has a "${source.folder}" already, which is something else. Choose another folder, or move it away.`;
  if (done.exitCode === -1)
    return `it took more than ${limits.timeoutSeconds} seconds. Raise SANDBOX_CLONE_SECONDS, or ask the agent for a shallow clone.`;
  if (/File too large|file size limit|signal 25/i.test(done.text)) {
    return `it is larger than ${Math.round(limits.maxBytes / 1024 ** 2)} MiB. Raise SANDBOX_CLONE_SIZE, or ask the agent for a shallow clone.`;
  }
  return cloneFailure(done.text) || `git ended with exit code ${done.exitCode}.`;
}

/** The reason why the hook could not be put there, or `undefined`, also when there is none. */
export async function installHook(runtime: Runtime, { folder }: RepositorySource, options: PrepareOptions): Promise<string | undefined> {
  const { exitCode, text } = await inWorkspace(runtime, HOOK_SCRIPT, { cwd: folder, timeoutSeconds: HOOK_SECONDS, ...options });
  return exitCode === 0 ? undefined : text.trim().slice(-500) || `exit code ${exitCode}`;
}

export async function hasSetup(runtime: Runtime, { folder }: RepositorySource, options: PrepareOptions): Promise<boolean> {
  const script = `[ -f .openhands/setup.sh ]`;
  return (await inWorkspace(runtime, script, { cwd: folder, timeoutSeconds: HOOK_SECONDS, ...options })).exitCode === 0;
}

/** For the agent's shell, which begins in the workspace. */
export function enterCommand(runtime: Runtime, { folder }: RepositorySource): string {
  return `cd -- ${shellQuote(`${runtime.workspace}/${folder}`)}`;
}

function inWorkspace(
  runtime: Runtime,
  script: string,
  {
    cwd,
    timeoutSeconds,
    now,
    onProgress,
  }: { readonly cwd: string; readonly timeoutSeconds: number } & Pick<PrepareOptions, 'now' | 'onProgress'>,
): Promise<CommandOutput> {
  const place = cwd === '' ? runtime.workspace : `${runtime.workspace}/${cwd}`;
  return runSandboxCommand(runtime, script, {
    cwd: place,
    timeoutSeconds,
    maxBytes: MAX_OUTPUT,
    now: now(),
    onText: cloneProgress(onProgress),
  });
}

function newBranch(): string {
  return `openhands-workspace-${Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`;
}
