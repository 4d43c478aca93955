import { mkdir, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { config as configureSchemas } from 'zod';
import { EXIT, type AddCommand } from './add-command.ts';
import { withOptions } from './environment-options.ts';
import type { EvalTask } from './eval/task.ts';

const HELP = `
DATASET is a folder of tasks, each a folder with a task.json, or a file of SWE-bench instances as JSON lines (docs/evaluation.md). The agent
works on each task in its own sandbox; when it is done, the task's check runs in another one. Results are written to --out as they come: after
a kill or Ctrl-C the same command continues, and does not repeat finished attempts. The model comes from LLM_MODEL and LLM_API_KEY; the settings
in ~/.tendon are not used.
Exit code: 0 every task is solved, 1 some are not, or the budget is used up, 2 wrong usage, 130 interrupted.`;

/** Stays separate from the user's own work, because datasets come from strangers. */
const NOT_TAKEN = ['WORKSPACE_BASE', 'TENDON_ALLOWED_DIRS', 'SANDBOX_VOLUMES', 'SANDBOX_PORTS', 'SESSION_API_KEY'];

interface EvalCommandOptions {
  readonly out?: string;
  readonly model?: string;
  readonly mirrors?: string;
  readonly testCommand?: string;
  readonly runtime?: string;
  readonly configFile?: string;
  readonly jobs: number;
  readonly repeat: number;
  readonly limit?: number;
  readonly only?: readonly string[];
  readonly budget?: number;
  readonly again?: 'failed' | 'all';
  readonly solutions?: boolean;
  readonly saveWorkspaces?: boolean;
  readonly atif?: boolean;
  readonly json?: boolean;
}

export const evalCommand: AddCommand = (program, end) => {
  program
    .command('eval')
    .description('run an agent over a dataset of tasks, check each result and write a report')
    .argument('<dataset>', 'a folder of tasks, or a file of instances')
    .option('-o, --out <folder>', 'where results are written (default: eval-results/DATASET/MODEL)')
    .option('-m, --model <name>', 'model as provider/name, e.g. openai/gpt-4o')
    .option('-j, --jobs <n>', 'attempts at the same time', count, 2)
    .option('--only <names...>', 'only tasks with these ids; * stands for anything')
    .option('--limit <n>', 'only the first n tasks', count)
    .option('--repeat <k>', 'attempts at each task, for pass@k', count, 1)
    .option('--budget <dollars>', 'what the whole run may cost, earlier parts of it included', dollars)
    .option('--again <which>', 'repeat finished attempts: failed, or all', which)
    .option('--solutions', "play each task's own solution instead of asking a model: does the dataset work?")
    .option('--mirrors <folder>', 'where the repositories of SWE-bench instances are cloned')
    .option('--test-command <command>', 'runs the tests of SWE-bench instances; {tests} stands for their names')
    .option('--save-workspaces', 'leave the workspaces of finished attempts in the results')
    .option('--atif', 'write the trajectories in the Agent Trajectory Interchange Format too')
    .option('--json', 'print the report as one line of JSON')
    .option('--runtime <driver>', 'where commands run: local (sandboxed, the default), docker, or none (no isolation at all)')
    .option('--config-file <file>', 'a config.toml beneath the environment')
    .addHelpText('after', HELP)
    .action(async (dataset: string, options: EvalCommandOptions) => {
      configureSchemas({ jitless: true });
      const prepared = await prepare(dataset, options).catch((cause: unknown) => [cause instanceof Error ? cause.message : String(cause)]);
      if ('length' in prepared) {
        process.stderr.write(`${prepared.join('\n')}\n`);
        return end(EXIT.usage);
      }
      const { watchInterruption } = await import('./terminal/interruption.ts');
      using interruption = watchInterruption(process.stdout);
      interruption.forced.addEventListener('abort', () => process.exit(EXIT.interrupted));
      interruption.armed();
      const { runEval } = await import('./eval/run-eval.ts');
      const { exitCode, report } = await runEval(prepared, interruption);
      const { totals } = report;
      const text = `${totals.tasksSolved} of ${totals.tasks} tasks solved, $${totals.usd.toFixed(2)}. ${join(prepared.out, 'report.html')}`;
      process.stdout.write(`${options.json ? JSON.stringify(report) : text}\n`);
      end(exitCode);
    });
};

/** The run that the command line asks for, or what is wrong with it. Rejects with a user-facing error when the dataset cannot be read. */
async function prepare(dataset: string, options: EvalCommandOptions) {
  const { runtime, solutions = false, configFile } = options;
  const tasks = chosen(await readDataset(dataset, options), options);
  const model = solutions ? 'solutions' : options.model || process.env.LLM_MODEL || undefined;
  if (model === undefined) return ['There is no model. Set LLM_MODEL and LLM_API_KEY, or play the solutions with --solutions.'];
  const out = resolve(options.out ?? join('eval-results', basename(resolve(dataset)), model.replaceAll(/[^\w.-]+/g, '-')));
  if (solutions) await writeSolutions(out, tasks);
  const asked = solutions ? `scripted/${join(out, 'solutions.json')}` : model;
  const without = Object.fromEntries(NOT_TAKEN.map((name) => [name, undefined]));
  const given = { home: join(out, 'home'), model: asked, ...(runtime && { runtime }), ...(configFile && { configFile }) };
  const { hasRemoteSandboxes, readFiledConfig } = await import('@tendon/server/headless');
  const read = await readFiledConfig(withOptions({ LOG_LEVEL: 'fatal', SECURITY_UNATTENDED: 'true', ...process.env, ...without }, given));
  if (!read.ok) return read.problems;
  // The findings and notes of one task's agent would influence the next one.
  const config = { ...read.config, tools: read.config.tools.filter((tool) => tool !== 'recall' && tool !== 'note') };
  if (hasRemoteSandboxes(config.runtime)) return [`Workspaces are filled on this machine: RUNTIME=${config.runtime} cannot be evaluated.`];
  if (config.runtime === 'none' && runtime !== 'none')
    return ['Tasks and models may do anything: without a sandbox they only run with --runtime none.'];
  const { jobs, repeat, budget, again, saveWorkspaces: savesWorkspaces = false, atif = false } = options;
  const notify = (line: string): void => void process.stderr.write(`${line}\n`);
  const name = basename(resolve(dataset));
  return { dataset: name, model, tasks, config, out, jobs, repeat, budget, again, savesWorkspaces, atif, notify };
}

async function readDataset(dataset: string, { mirrors, testCommand }: EvalCommandOptions): Promise<readonly EvalTask[]> {
  const found = await stat(dataset).catch(() => undefined);
  if (found?.isFile()) {
    const { readSweTasks } = await import('./eval/read-swe-tasks.ts');
    return readSweTasks(dataset, { mirrors, testCommand });
  }
  if (!found?.isDirectory()) throw new Error(`${dataset} is neither a folder of tasks nor a file of instances.`);
  const { readTaskFolders } = await import('./eval/read-task-folders.ts');
  return readTaskFolders(dataset);
}

function chosen(tasks: readonly EvalTask[], { only, limit }: EvalCommandOptions): readonly EvalTask[] {
  const patterns = only?.map((name) => new RegExp(`^${name.split('*').map(escapedPattern).join('.*')}$`));
  const named = patterns ? tasks.filter(({ id }) => patterns.some((pattern) => pattern.test(id))) : tasks;
  if (named.length === 0) throw new Error(`No task is named ${only?.join(', ')}.`);
  return named.slice(0, limit);
}

function escapedPattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The script of a model that knows every task by its prompt. */
async function writeSolutions(out: string, tasks: readonly EvalTask[]): Promise<void> {
  const without = tasks.filter(({ solution }) => solution === undefined).map(({ id }) => id);
  if (without.length > 0) throw new Error(`These tasks have no solution: ${without.join(', ')}.`);
  const entries = tasks.map(({ prompt, solution }) => ({ task: prompt, answers: solution }));
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'solutions.json'), JSON.stringify({ tasks: entries }));
}

function count(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('A whole number from 1 on is expected.');
  return Number(text);
}

function dollars(text: string): number {
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw new InvalidArgumentError('An amount of US dollars is expected.');
  return Number(text);
}

function which(text: string): string {
  if (text !== 'failed' && text !== 'all') throw new InvalidArgumentError('Either failed or all is expected.');
  return text;
}
