import { config as configureSchemas } from 'zod';
import { withOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';
import { growHeapAtOnce } from './heap-growth.ts';
import { addTaskOptions, readImages, readTask, type TaskOptions } from './run/task-options.ts';

const HELP = `
The agent works in the current folder, and can change it; --workspace or WORKSPACE_BASE name another one. In your home folder or at the root of
the disk it gets a fresh folder instead. If a server runs on this home, the task goes through it and appears in its list. The task, or
more of it, may also come from standard input: git diff | tendon run "review this"
Exit code: 0 the agent finished or answered, 1 it failed, 2 wrong usage, 3 it needs a decision, 130 interrupted. Ctrl-C asks it to stop, a
second Ctrl-C ends it at once.`;

interface RunOptions extends TaskOptions {
  readonly json?: boolean;
  readonly atif?: string;
}

export const runCommand: AddCommand = (program, end) => {
  addTaskOptions(
    program
      .command('run')
      .description('give an agent one task and watch it work')
      .argument('[task...]', 'what is to be done, in plain words')
      .option('--json', 'print every event as a line of JSON')
      .option('--atif <file>', 'write the run to this file when it ends, in the Agent Trajectory Interchange Format'),
  )
    .addHelpText('after', HELP)
    .action(async (words: readonly string[], { json = false, atif, image = [], ...options }: RunOptions) => {
      const task = await readTask(words);
      if (task === '') {
        process.stderr.write('There is no task. Say what is to be done: tendon run "write a bash script that prints hello"\n');
        return end(EXIT.usage);
      }
      const imageUrls = await readImages(image);
      // Compiling a parser for each schema pays off over thousands of values, not over the few of one run.
      configureSchemas({ jitless: true });
      growHeapAtOnce();
      const { readRunConfig } = await import('./run/run-config.ts');
      const env = { ...(options.approve === undefined && { SECURITY_UNATTENDED: 'true' }), ...process.env };
      const read = await readRunConfig(withOptions(env, options), process.cwd());
      if (!read.ok) {
        for (const problem of read.problems) process.stderr.write(`${problem}\n`);
        return end(EXIT.usage);
      }
      const { runTask } = await import('./run/run-task.ts');
      end(await runTask({ ...options, task, imageUrls, output: 'events', json, atif, ...read }));
    });
};
