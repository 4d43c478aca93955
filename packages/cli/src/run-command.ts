import { text } from 'node:stream/consumers';
import { config as configureSchemas } from 'zod';
import { withOptions, type EnvironmentOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';

const HELP = `
The agent works in the folder you are in, and can change it; --workspace or WORKSPACE_BASE name another one. In your home folder or at the root of
the disk it is given a fresh folder instead. The task may also come from standard input: tendon run - < task.txt
Exit code: 0 the agent finished or answered, 1 it failed, 2 wrong usage, 130 interrupted. Ctrl-C asks it to stop, a second one ends it at once.`;

interface RunOptions extends EnvironmentOptions {
  readonly json?: boolean;
  readonly atif?: string;
  readonly worktree?: boolean;
}

export const runCommand: AddCommand = (program, end) => {
  program
    .command('run')
    .description('give an agent one task and watch it work')
    .argument('<task...>', 'what is to be done, in plain words; - reads it from standard input')
    .option('--json', 'print every event as a line of JSON')
    .option('--atif <file>', 'write the run to this file when it ends, in the Agent Trajectory Interchange Format')
    .option('-m, --model <name>', 'model as provider/name, e.g. openai/gpt-4o')
    .option('-w, --workspace <folder>', 'the folder the agent works in (default: the current one)')
    .option('--worktree', 'work in a copy of that folder, with its git history: its files stay as they are')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .option('--runtime <driver>', 'where commands run: local (sandboxed, the default), docker, remote, or none (no isolation at all)')
    .option('--config-file <file>', 'a config.toml beneath the environment (default: the one in the home, if there is one)')
    .addHelpText('after', HELP)
    .action(async (words: readonly string[], { json = false, atif, worktree = false, ...options }: RunOptions) => {
      const task = (words.length === 1 && words[0] === '-' ? await text(process.stdin) : words.join(' ')).trim();
      if (task === '') {
        process.stderr.write('There is no task. Say what is to be done: tendon run "write a bash script that prints hello"\n');
        return end(EXIT.usage);
      }
      // Compiling a parser for each schema pays off over thousands of values, not over the few of one run.
      configureSchemas({ jitless: true });
      const { readRunConfig } = await import('./run/run-config.ts');
      const read = await readRunConfig(withOptions(process.env, options), process.cwd());
      if (!read.ok) {
        for (const problem of read.problems) process.stderr.write(`${problem}\n`);
        return end(EXIT.usage);
      }
      const { runTask } = await import('./run/run-task.ts');
      end(await runTask({ task, json, atif, worktree, model: options.model, ...read }));
    });
};
