import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { shellQuote } from '@tendon/protocol/executor-api';
import { TASK_ID, type EvalTask } from './task.ts';

export interface SweOptions {
  /** The folder with the repositories, as `owner/name`, `owner__name` or `name`, bare or not. */
  readonly mirrors: string | undefined;
  /** Runs the tests of an instance that names no command; `{tests}` stands for their names. */
  readonly testCommand: string | undefined;
}

/** Names of tests: a list, or a list as JSON text, as the published sets have it. */
const tests = z.preprocess((value) => (typeof value === 'string' ? parsedJson(value) : value), z.array(z.string())).default([]);

const Instance = z.looseObject({
  instance_id: z.string().regex(TASK_ID),
  repo: z.string().regex(/^[\w.-]+(?:\/[\w.-]+)?$/),
  base_commit: z.string().regex(/^[0-9a-f]{7,64}$/),
  problem_statement: z.string().min(1),
  test_patch: z.string().default(''),
  FAIL_TO_PASS: tests,
  PASS_TO_PASS: tests,
  test_cmd: z.string().optional(),
});
type Instance = z.output<typeof Instance>;

const LIMITS = { seconds: 1800, steps: 100, usd: undefined };
const CHECK_SECONDS = 1800;
const run = promisify(execFile);

/** Instances in the shape of SWE-bench, one a line. Rejects with a user-facing error that names the line and the fault. */
export async function readSweTasks(file: string, options: SweOptions): Promise<readonly EvalTask[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  if (options.mirrors === undefined) throw new Error('Instances name repositories: say with --mirrors in which folder they are.');
  const tasks: EvalTask[] = [];
  for (const [index, line] of lines.entries()) {
    const parsed = Instance.safeParse(parsedJson(line));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new Error(`Line ${index + 1} of ${file} does not fit: ${issue?.path.join('.')} ${issue?.message}`);
    }
    tasks.push(await taskOf(parsed.data, { ...options, mirrors: options.mirrors }));
  }
  if (tasks.length === 0) throw new Error(`${file} holds no instance.`);
  return tasks;
}

async function taskOf(instance: Instance, options: SweOptions & { readonly mirrors: string }): Promise<EvalTask> {
  const { instance_id: id, problem_statement: problem, base_commit: base, test_cmd: own } = instance;
  const command = own ?? options.testCommand;
  if (command === undefined) throw new Error(`${id} names no test_cmd: say with --test-command how its tests are run.`);
  const mirror = await mirrorOf(instance.repo, options.mirrors);
  const script = checkScript(instance, command);
  return {
    id,
    prompt: `The repository in your workspace has this issue. Change the code so that it is solved; tests of it are run when you have finished.\n\n${problem}`,
    tags: [instance.repo],
    limits: LIMITS,
    digest: createHash('sha256')
      .update(JSON.stringify([instance, command]))
      .digest('hex')
      .slice(0, 16),
    fill: (workspace) => checkOut(mirror, base, workspace),
    setup: undefined,
    patch: 'git add -A && git diff --cached --binary base',
    check: {
      command: 'bash "$CHECK/check.sh"',
      seconds: CHECK_SECONDS,
      tests: { failToPass: instance.FAIL_TO_PASS, passToPass: instance.PASS_TO_PASS },
      bring: async (folder) => {
        await writeFile(join(folder, 'check.sh'), script);
        await writeFile(join(folder, 'test.patch'), instance.test_patch);
      },
    },
    solution: typeof instance.patch === 'string' ? solutionOf(instance.patch) : undefined,
  };
}

async function mirrorOf(repo: string, mirrors: string): Promise<string> {
  const name = repo.split('/').at(-1)!;
  const places = [repo, repo.replace('/', '__'), name].flatMap((one) => [one, `${one}.git`]).map((one) => resolve(mirrors, one));
  for (const place of places) if (await stat(place).catch(() => undefined)) return place;
  throw new Error(`${repo} is not in ${mirrors}: clone it there, as ${places[0]}.`);
}

/** One branch with the history up to the commit: nothing of what came later, where the solution is. The tag `base` marks it. */
async function checkOut(mirror: string, base: string, workspace: string): Promise<void> {
  const git = (...args: string[]) =>
    run('git', ['-c', 'safe.directory=*', '-C', workspace, ...args], { env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' } });
  await git('init', '-q', '-b', 'main');
  const { stdout: commit } = await run('git', ['-c', 'safe.directory=*', '-C', mirror, 'rev-parse', '--verify', `${base}^{commit}`]);
  await git('-c', 'protocol.version=2', 'fetch', '-q', '--no-tags', `--upload-pack=${UPLOAD}`, mirror, commit.trim());
  await git('reset', '-q', '--hard', 'FETCH_HEAD');
  await git('tag', 'base');
}

/** A commit that no branch ends in is given out too, also of a mirror that somebody else owns. */
const UPLOAD = "git -c 'safe.directory=*' -c uploadpack.allowAnySHA1InWant=true upload-pack";

/** Restores the original tests, whatever the agent has made of them, then runs all that must pass. */
function checkScript({ test_patch, FAIL_TO_PASS, PASS_TO_PASS }: Instance, command: string): string {
  const files = [...test_patch.matchAll(/^(?:---|\+\+\+) [ab]\/(.+)$/gm)].map(([, name]) => name!);
  const restored = [...new Set(files)].map(
    (name) => `git checkout -q base -- ${shellQuote(name)} 2> /dev/null || rm -f -- ${shellQuote(name)}`,
  );
  const names = [...FAIL_TO_PASS, ...PASS_TO_PASS].map((name) => shellQuote(name)).join(' ');
  const apply = test_patch.trim() === '' ? [] : ['git apply --whitespace=nowarn "$CHECK/test.patch"'];
  return ['set -e', ...restored, ...apply, command.replaceAll('{tests}', () => names), ''].join('\n');
}

/** The original patch of the repository, if the set has it. */
function solutionOf(patch: string): readonly object[] {
  const command = `git apply --whitespace=nowarn <<'END_OF_PATCH'\n${patch.trimEnd()}\nEND_OF_PATCH`;
  return [
    { text: 'I apply the patch.', toolCalls: [{ name: 'execute_bash', arguments: { command } }] },
    { toolCalls: [{ name: 'finish', arguments: { message: 'It is done.', task_completed: 'true' } }] },
  ];
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
