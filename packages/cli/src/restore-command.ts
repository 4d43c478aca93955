import { resolve } from 'node:path';
import { withOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';

const HELP = `
Every file is verified before anything is changed. Stop the server first.
Existing sandboxes are set aside with their state; workspaces stay as they are. Hooks, tools and plugins run on this machine as you, so they
are only restored with --with-programs: read them first if somebody else may have changed the backup. A backup is refused if its conversations
work in folders that this machine does not allow (WORKSPACE_BASE, TENDON_ALLOWED_DIRS).
Exit code: 0 done, 1 refused or failed, 2 wrong usage.`;

interface RestoreFlags {
  readonly force?: boolean;
  readonly withPrograms?: boolean;
  readonly home?: string;
}

export const restoreCommand: AddCommand = (program, end) => {
  program
    .command('restore')
    .description('restore a backup')
    .argument('<folder>', 'what tendon backup made')
    .option('--force', 'restore over existing conversations, which are set aside and not deleted')
    .option('--with-programs', 'restore hooks, tools and plugins too, which run on this machine as you')
    .option('--home <folder>', 'where it is put (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async (folder: string, { force = false, withPrograms = false, home }: RestoreFlags) => {
      const { readConfig, restoreStore, systemClock } = await import('@tendon/server/headless');
      const read = readConfig(withOptions(process.env, home === undefined ? {} : { home }));
      if (!read.ok) {
        process.stderr.write(`${read.problems.join('\n')}\n`);
        return end(EXIT.usage);
      }
      if (read.config.databaseUrl) {
        process.stderr.write('The store is the database of TENDON_DATABASE_URL. Restore it with pg_restore.\n');
        return end(EXIT.usage);
      }
      const from = resolve(folder);
      const done = await restoreStore({ from, home: read.config.home, folders: read.config, force, withPrograms, clock: systemClock });
      process.stdout.write(`${read.config.home} has ${done.conversations} conversation${done.conversations === 1 ? '' : 's'} now.\n`);
      if (done.aside !== undefined) process.stdout.write(`What was there before is in ${done.aside}.\n`);
      if (done.leftOut.length > 0) {
        const parts = done.leftOut.join(', ');
        process.stdout.write(`Not restored, because they run on this machine as you: ${parts}. Look at them, and use --with-programs.\n`);
      }
      end(EXIT.done);
    });
};
