import { randomInt } from 'node:crypto';
import type { Runtime } from '@tendon/core';
import { shellQuote } from '@tendon/protocol/executor-api';
import { runSandboxCommand, type CommandOutput } from '../../sandboxes/sandbox-command.ts';
import type { CloneLimits } from '../../platform/config/network-config.ts';
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

/** Clones it in the sandbox. Resolves with the message for a person when it could not be cloned, or `undefined`. */
export async function cloneRepository(runtime: Runtime, source: RepositorySource, options: PrepareOptions): Promise<string | undefined> {
  const { limits, user } = options;
  const script = cloneScript({ ...source, newBranch: newBranchName(), ...limits, user });
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

function newBranchName(): string {
  return `openhands-workspace-${Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`;
}

/** What the exit codes of the script say; everything else is git's own failure. */
const CLONE_EXIT = { done: 0, wasThere: 3, inTheWay: 4, noGit: 127 } as const;

interface CloneScriptOptions extends RepositorySource {
  /** Made when no branch is named, so that the agent's work is on a branch of its own. */
  readonly newBranch: string;
  /** Of one file, which is where git puts what it fetched. */
  readonly maxBytes: number;
  readonly depth?: number;
  readonly user: { readonly name: string; readonly email: string };
}

/**
 * Clones beside the place and moves it there when it is whole: cut off at any point, the next run begins anew. A folder of that
 * name that is the same repository is left as it is.
 */
function cloneScript({ url, folder, branch, newBranch, maxBytes, depth, user }: CloneScriptOptions): string {
  return `
name=${shellQuote(folder)} url=${shellQuote(url)}
command -v git >/dev/null || exit ${CLONE_EXIT.noGit}
[ -n "$(git config --global user.name)" ] || {
  git config --global user.name ${shellQuote(user.name)}
  git config --global user.email ${shellQuote(user.email)}
}
if [ -e "$name" ] || [ -L "$name" ]; then
  [ "$(git -C "$name" config --local --get remote.origin.url)" = "$url" ] && exit ${CLONE_EXIT.wasThere}
  rmdir -- "$name" 2>/dev/null || exit ${CLONE_EXIT.inTheWay}
fi
rm -rf -- .tendon-clone-*
temp=.tendon-clone-$$
mkdir -- "$temp" || exit 1
ulimit -f ${Math.floor(maxBytes / 1024)}
trap 'rm -rf -- "$temp"' EXIT
git -c http.lowSpeedLimit=1000 -c http.lowSpeedTime=60 clone --progress ${depth ? `--depth ${depth} ` : ''}${branch ? `--branch ${shellQuote(branch)} ` : ''}-- "$url" "$temp/new" 2>&1 || exit 5
${branch ? '' : `git -C "$temp/new" checkout -q -b ${shellQuote(newBranch)} || exit 6`}
mv -T -- "$temp/new" "$name" || exit 7
exit ${CLONE_EXIT.done}
`;
}

/** Puts the repository's own check before its commits; an existing hook stays and is called after it. */
const HOOK_SCRIPT = `
[ -f .openhands/pre-commit.sh ] || exit 0
hooks=$(git rev-parse --git-path hooks) && mkdir -p -- "$hooks" || exit 1
hook=$hooks/pre-commit
if [ -e "$hook" ] || [ -L "$hook" ]; then grep -q '^# tendon: ' "$hook" || mv -- "$hook" "$hook.local" || exit 1; fi
cat >"$hook" <<'HOOK'
#!/bin/sh
# tendon: the repository's own check, then the hook that was here before.
[ ! -f .openhands/pre-commit.sh ] || bash .openhands/pre-commit.sh "$@" || exit $?
before=$(git rev-parse --git-path hooks)/pre-commit.local
[ ! -x "$before" ] || exec "$before" "$@"
HOOK
chmod +x "$hook"
`;

/**
 * Reports the newest of git's own progress, as `Receiving objects: 45%`, each once.
 * @internal
 */
export function cloneProgress(onProgress: (words: string) => void): (chunk: string) => void {
  let rest = '';
  let last = '';
  return (chunk) => {
    const lines = (rest + chunk).split(/[\r\n]/);
    rest = (lines.pop() ?? '').slice(-500);
    const [words] = lines.flatMap((line) => /^(?:remote: )?([A-Z][a-z]+ [a-z]+: +\d+%)/.exec(line)?.[1] ?? []).slice(-1);
    if (words === undefined || words === last) return;
    last = words;
    onProgress(words);
  };
}

/**
 * The last output of git, without its progress: what a person needs to know of a clone that failed.
 * @internal
 */
export function cloneFailure(output: string): string {
  const lines = output.split(/[\r\n]+/).map((line) => line.trim());
  const words = lines.filter((line) => line !== '' && !/\d+%|^Cloning into|^remote: (Enumerating|Counting|Compressing|Total)/.test(line));
  return words.slice(-4).join(' ').slice(0, 1000);
}
