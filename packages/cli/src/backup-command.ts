import { resolve } from 'node:path';
import { withOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';

const HELP = `
The server may keep running. The backup includes the skills, notes, agents, hooks, tools and plugins of the home, without node_modules. It
does not include the files of workspaces. Restore it with tendon restore.
Exit code: 0 the backup is complete, 1 it could not be made, or something was missing, 2 wrong usage.`;

export const backupCommand: AddCommand = (program, end) => {
  program
    .command('backup')
    .description('copy conversations and settings into a folder')
    .argument('<folder>', 'the folder to make')
    .option('--with-secrets', 'include keys and secrets, and the key that unseals them: keep such a copy safe')
    .option('--home <folder>', 'what is copied (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async (folder: string, { withSecrets = false, home }: { withSecrets?: boolean; home?: string }) => {
      const { backupStore, readConfig } = await import('@tendon/server/headless');
      const read = readConfig(withOptions(process.env, home === undefined ? {} : { home }));
      if (!read.ok) {
        process.stderr.write(`${read.problems.join('\n')}\n`);
        return end(EXIT.usage);
      }
      if (read.config.databaseUrl) {
        process.stderr.write('The store is the database of TENDON_DATABASE_URL. Copy it with pg_dump.\n');
        return end(EXIT.usage);
      }
      let problems = 0;
      const onProblem = (sentence: string): void => {
        problems++;
        process.stderr.write(`${sentence}\n`);
      };
      const to = resolve(folder);
      const { conversations } = await backupStore({ home: read.config.home, to, withSecrets, now: new Date(), onProblem });
      process.stdout.write(`${to} holds ${conversations} conversation${conversations === 1 ? '' : 's'}.\n`);
      end(problems > 0 ? EXIT.failed : EXIT.done);
    });
};
