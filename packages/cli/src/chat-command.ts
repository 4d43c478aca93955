import type { Command } from 'commander';
import { config as configureSchemas } from 'zod';
import { withOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';
import { addTaskOptions, readImages, readTask, type TaskOptions } from './run/task-options.ts';

const HELP = `
With -p the answer alone is printed on standard output, and how it goes on standard error; --json prints one object about the run.
Exit code of -p: 0 the agent finished or answered, 1 it failed, 2 wrong usage, 3 it needs a decision, 130 interrupted.`;

interface ChatOptions extends TaskOptions {
  /** True without words: they come from standard input. */
  readonly print?: readonly string[] | true;
  readonly json?: boolean;
  readonly resume?: string;
}

export function addChatOptions(program: Command): Command {
  return addTaskOptions(
    program
      .option('-p, --print [task...]', 'give an agent one task, and print its answer alone')
      .option('--json', 'with -p: print one object about the run')
      .option('-r, --resume <id>', 'with -p: go on with a conversation'),
  );
}

export const chatCommand: AddCommand = (program, end) => {
  addChatOptions(program)
    .argument('[task...]', 'with -p: what is to be done, in plain words')
    .addHelpText('after', HELP)
    .action(async (words: readonly string[], { print, json = false, image = [], resume, ...options }: ChatOptions) => {
      const task = await readTask([...(Array.isArray(print) ? (print as readonly string[]) : []), ...words]);
      if (task === '') {
        process.stderr.write(`There is no task.\n${program.helpInformation()}`);
        return end(EXIT.usage);
      }
      const imageUrls = await readImages(image);
      configureSchemas({ jitless: true });
      const { readRunConfig } = await import('./run/run-config.ts');
      const env = withOptions(process.env, options);
      const read = await readRunConfig(env, process.cwd());
      if (!read.ok) {
        process.stderr.write(`${read.problems.join('\n')}\n`);
        return end(EXIT.usage);
      }
      const { runTask } = await import('./run/run-task.ts');
      end(await runTask({ ...options, conversation: resume, task, imageUrls, output: 'answer', json, ...read }));
    });
};
