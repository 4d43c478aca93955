import { createHash } from 'node:crypto';
import { cp, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TASK_ID, type EvalTask } from './task.ts';

const TaskFile = z.strictObject({
  prompt: z.string().trim().min(1),
  tags: z.array(z.string()).default([]),
  check: z.string().min(1).default('bash "$CHECK/check.sh"'),
  limits: z
    .strictObject({
      seconds: z.number().positive().default(600),
      steps: z.number().int().positive().default(60),
      usd: z.number().positive().optional(),
      check_seconds: z.number().positive().default(120),
    })
    .prefault({}),
});

/** Every folder with a `task.json`, by name. Rejects with a user-facing error that names the task and the fault. */
export async function readTaskFolders(dataset: string): Promise<readonly EvalTask[]> {
  const entries = await readdir(dataset, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  const tasks: EvalTask[] = [];
  for (const name of names.toSorted()) {
    const text = await readFile(join(dataset, name, 'task.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) tasks.push(await readTask(join(dataset, name), name, text));
  }
  if (tasks.length === 0) throw new Error(`${dataset} holds no task: each is a folder with a task.json in it.`);
  return tasks;
}

async function readTask(folder: string, id: string, text: string): Promise<EvalTask> {
  if (!TASK_ID.test(id)) throw new Error(`The task ${id} needs a name of letters, digits, dots, dashes and underscores.`);
  const { prompt, tags, check, limits } = parseTask(text, id);
  const { check_seconds: checkSeconds, seconds, steps, usd } = limits;
  return {
    id,
    prompt,
    tags,
    limits: { seconds, steps, usd },
    digest: await digestOf(folder),
    fill: (workspace) => copyIfThere(join(folder, 'workspace'), workspace),
    setup: await readFile(join(folder, 'setup.sh'), 'utf8').catch(() => undefined),
    check: { command: check, seconds: checkSeconds, bring: (to) => copyIfThere(join(folder, 'check'), to) },
    solution: await readSolution(folder, id),
  };
}

function parseTask(text: string, id: string): z.output<typeof TaskFile> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`The task.json of ${id} is not JSON.`);
  }
  const parsed = TaskFile.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`The task.json of ${id} does not fit: ${issue?.path.join('.')} ${issue?.message}`);
}

async function copyIfThere(from: string, to: string): Promise<void> {
  if (await stat(from).catch(() => undefined)) await cp(from, to, { recursive: true, verbatimSymlinks: true });
}

/** `solution.json` holds the answers of a scripted model, `solution.sh` one command that solves the task. */
async function readSolution(folder: string, id: string): Promise<readonly object[] | undefined> {
  const answers = await readFile(join(folder, 'solution.json'), 'utf8').catch(() => undefined);
  if (answers !== undefined) {
    const parsed = z.array(z.looseObject({})).safeParse(JSON.parse(answers));
    if (!parsed.success) throw new Error(`The solution.json of ${id} is no list of answers.`);
    return parsed.data;
  }
  const command = await readFile(join(folder, 'solution.sh'), 'utf8').catch(() => undefined);
  if (command === undefined) return undefined;
  return [
    { text: 'I do what the task asks for.', toolCalls: [{ name: 'execute_bash', arguments: { command } }] },
    { toolCalls: [{ name: 'finish', arguments: { message: 'It is done.', task_completed: 'true' } }] },
  ];
}

/** A digest of names and contents without solutions, which do not affect the result. */
async function digestOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.toSorted()) {
    const name = path.slice(folder.length);
    if (name.startsWith('/solution.')) continue;
    const content = await readFile(path);
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}
