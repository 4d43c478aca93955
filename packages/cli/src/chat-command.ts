import type { Command } from 'commander';
import { config as configureSchemas } from 'zod';
import { growHeapAtOnce } from './heap-growth.ts';
import { withOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';
import { addTaskOptions, readImages, readTask, type TaskOptions } from './run/task-options.ts';

const HELP = `
Without a command, and in a terminal, tendon is a chat with an agent that works in the current folder. It uses the server that runs on your
home, or starts one that ends when nobody uses it any more. /help in the chat lists its commands.
With -p only the answer goes to standard output, and the progress to standard error; --json prints one object about the run.
Exit code of -p: 0 the agent finished or answered, 1 it failed, 2 wrong usage, 3 it needs a decision, 130 interrupted.`;

interface ChatOptions extends TaskOptions {
  /** True without words: they come from standard input. */
  readonly print?: readonly string[] | true;
  readonly json?: boolean;
  readonly continue?: boolean;
  readonly resume?: string | true;
}

export function addChatOptions(program: Command): Command {
  return addTaskOptions(
    program
      .option('-p, --print [task...]', 'give an agent one task, and print only its answer')
      .option('--json', 'with -p: print one object about the run')
      .option('-c, --continue', 'continue the newest conversation in this folder')
      .option('-r, --resume [id]', 'continue a conversation; without an id, choose one'),
  );
}

export const chatCommand: AddCommand = (program, end) => {
  addChatOptions(program)
    .argument('[task...]', 'with -p: what is to be done, in plain words')
    .addHelpText('after', HELP)
    .action(
      async (words: readonly string[], { print, json = false, image = [], continue: goesOn = false, resume, ...options }: ChatOptions) => {
        if (print !== undefined && (goesOn || resume === true)) {
          process.stderr.write('With -p the conversation is named: tendon -r ID -p "go on"\n');
          return end(EXIT.usage);
        }
        const isChat = print === undefined && words.length === 0 && process.stdin.isTTY && process.stdout.isTTY;
        const task = isChat ? '' : await readTask([...(Array.isArray(print) ? (print as readonly string[]) : []), ...words]);
        if (!isChat && task === '') {
          process.stderr.write(`There is no task.\n${program.helpInformation()}`);
          return end(EXIT.usage);
        }
        const imageUrls = await readImages(image);
        configureSchemas({ jitless: true });
        if (!isChat) growHeapAtOnce();
        const { readRunConfig } = await import('./run/run-config.ts');
        const read = await readRunConfig(withOptions(process.env, options), process.cwd());
        if (!read.ok) {
          process.stderr.write(`${read.problems.join('\n')}\n`);
          return end(EXIT.usage);
        }
        if (isChat) {
          const { runChat } = await import('./chat/run-chat.ts');
          const goOn = goesOn ? ({ newest: true } as const) : resume === true ? ({ choose: true } as const) : resume && { id: resume };
          // A server that is started serves other folders and models, too.
          const { model: _model, workspace: _workspace, ...ofServer } = options;
          await runChat({ ...options, ...read, env: withOptions(process.env, ofServer), goOn: goOn || undefined, imageUrls });
          return end(EXIT.done);
        }
        const { runTask } = await import('./run/run-task.ts');
        end(
          await runTask({
            ...options,
            conversation: typeof resume === 'string' ? resume : undefined,
            task,
            imageUrls,
            output: 'answer',
            json,
            ...read,
          }),
        );
      },
    );
};
