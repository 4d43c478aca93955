import { readFile, stat } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { EnvironmentOptions } from '../environment-options.ts';
import type { TaskChoices } from './task-place.ts';

/** As commander reads them. */
export interface TaskOptions extends EnvironmentOptions, Omit<TaskChoices, 'model'> {
  readonly image?: readonly string[];
}

/** The options that every way to give a task has. */
export function addTaskOptions(command: Command): Command {
  return command
    .option('-m, --model <name>', 'model as provider/name, e.g. openai/gpt-4o')
    .option('--agent <name>', 'the agent (default: that of the settings)')
    .addOption(
      new Option(
        '--approve <what>',
        'what runs without being asked about: never anything, low risk, all (default: as the settings say)',
      ).choices(['never', 'low', 'all']),
    )
    .option('--budget <dollars>', 'end when the model has cost so much', positive)
    .option('--max-steps <number>', 'end after so many answers of the model', positiveInteger)
    .option('--image <file>', 'a picture that belongs to the task; may be repeated', collect)
    .option('-w, --workspace <folder>', 'the folder the agent works in (default: the current one)')
    .option('--worktree', 'work in a copy of that folder, with its git history: its files stay as they are')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .option('--runtime <driver>', 'where commands run: local (sandboxed, the default), docker, remote, or none (no isolation at all)')
    .option('--config-file <file>', 'a config.toml beneath the environment (default: the one in the home, if there is one)');
}

/** The words, and beneath them what comes in on standard input, where that is no terminal. `-` alone stands for standard input. */
export async function readTask(words: readonly string[]): Promise<string> {
  const given = words.length === 1 && words[0] === '-' ? '' : words.join(' ');
  const piped = process.stdin.isTTY ? '' : await (given === '' ? readAll(process.stdin) : pipedBeside());
  return [given.trim(), piped.trim()].filter(Boolean).join('\n\n');
}

/** How long the first byte of a pipe may take where there is a task already: not everybody who starts a program closes its input. */
const PIPE_MS = 3_000;

async function pipedBeside(): Promise<string> {
  const input = readAll(process.stdin);
  input.catch(() => undefined);
  const begun = new Promise<true>((resolve) => process.stdin.once('readable', () => resolve(true)).once('end', () => resolve(true)));
  if (await Promise.race([begun, setTimeout(PIPE_MS, false, { ref: false })])) return input;
  process.stderr.write('Nothing came on standard input; going on without it\n');
  process.stdin.destroy();
  return '';
}

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** What the page takes of one, and what a server takes with one message. */
const MAX_IMAGE_BYTES = 3_000_000;
const MAX_IMAGES_BYTES = 14_000_000;

/** As `data:` URLs. Rejects with an Error whose message can be shown. */
export async function readImages(paths: readonly string[]): Promise<readonly string[]> {
  let total = 0;
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  for (const [index, path] of paths.entries()) {
    const stats = found[index];
    if (!stats?.isFile()) throw new Error(`${path} could not be read.`);
    if (stats.size > MAX_IMAGE_BYTES) throw new Error(`${path} is larger than 3 MB: make it smaller.`);
    total += stats.size;
    if (total > MAX_IMAGES_BYTES) throw new Error('The pictures are larger than 14 MB together: give fewer, or smaller ones.');
  }
  return Promise.all(
    paths.map(async (path) => {
      const type = TYPES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
      if (!type) throw new Error(`${path} is no picture: ${Object.keys(TYPES).join(', ')} are.`);
      const bytes = await readFile(path).catch(() => undefined);
      if (!bytes) throw new Error(`${path} could not be read.`);
      return `data:${type};base64,${bytes.toString('base64')}`;
    }),
  );
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1_000_000)) throw new InvalidArgumentError('It is a number above 0.');
  return value;
}

function positiveInteger(text: string): number {
  const value = positive(text);
  if (!Number.isInteger(value) || value > 100_000) throw new InvalidArgumentError('It is a whole number from 1 to 100000.');
  return value;
}

function collect(path: string, before: readonly string[] = []): readonly string[] {
  return [...before, path];
}
