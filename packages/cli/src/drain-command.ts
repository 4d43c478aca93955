import { EXIT, type AddCommand } from './add-command.ts';
import { withOptions } from './environment-options.ts';

const HELP = `
The server keeps answering until it is stopped (SIGTERM). In a pod, use this command as the preStop hook.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

/** Beyond what the server gives itself. */
const ANSWER_MS = 10_000;

export const drainCommand: AddCommand = (program, end) => {
  program
    .command('drain')
    .description('make the server of this home hand over its work before it is stopped, and wait until it has')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async (options: { readonly home?: string }) => {
      const { askForBody, findServer, readFiledConfig } = await import('@tendon/server/headless');
      const read = await readFiledConfig(withOptions(process.env, options));
      if (!read.ok) {
        process.stderr.write(`${read.problems.join('\n')}\n`);
        return end(EXIT.usage);
      }
      const server = await findServer(read.config);
      if (!server) throw new Error('No server runs on this home.');
      await askForBody(server, 'POST', '/cluster/drain', { deadlineMs: read.config.drainSeconds * 1000 + ANSWER_MS });
      process.stdout.write('The server has handed over what it worked on.\n');
      end(EXIT.done);
    });
};
