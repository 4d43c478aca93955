import { withOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';

const HELP = `
Stop the server first. The source is not changed; everything is read back and compared. After an interruption, run the command again: it continues.
To keep the password off the command line, set TENDON_DATABASE_URL and give no address.
Workspaces, notes, hooks and tools stay in the home. Sealed keys need the same JWT_SECRET (or jwt-secret of the home) afterwards.
Exit code: 0 everything was copied, 1 it could not be done, or something was missing in the source, 2 wrong usage.`;

interface Flags {
  readonly to?: string | true;
  readonly from?: string | true;
  readonly home?: string;
}

export const migrateCommand: AddCommand = (program, end) => {
  program
    .command('migrate')
    .description('move conversations and settings into a Postgres database, or back')
    .option('--to [address]', 'from the home into this database (default TENDON_DATABASE_URL)')
    .option('--from [address]', 'from this database into the home')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async ({ to, from, home }: Flags) => {
      const given = to ?? from;
      if (given === undefined || (to !== undefined && from !== undefined)) {
        process.stderr.write('Say either --to or --from.\n');
        return end(EXIT.usage);
      }
      const { migrateStore, readConfig, systemClock } = await import('@tendon/server/headless');
      const env = typeof given === 'string' ? { ...process.env, TENDON_DATABASE_URL: given } : process.env;
      const read = readConfig(withOptions(env, home === undefined ? {} : { home }));
      const databaseUrl = read.ok ? read.config.databaseUrl : undefined;
      if (!read.ok || !databaseUrl) {
        process.stderr.write(`${read.ok ? 'Name the database: --to postgres://USER@HOST/DATABASE.' : read.problems.join('\n')}\n`);
        return end(EXIT.usage);
      }
      let problems = 0;
      const onProblem = (sentence: string): void => {
        problems++;
        process.stderr.write(`${sentence}\n`);
      };
      const onProgress = ({ conversations, events }: { readonly conversations: number; readonly events: number }): void => {
        if (process.stderr.isTTY) process.stderr.write(`\r${conversations} conversations, ${events} events`);
      };
      const direction = to === undefined ? 'to-home' : 'to-database';
      const { conversations, events, records } = await migrateStore({
        home: read.config.home,
        databaseUrl,
        direction,
        clock: systemClock,
        onProgress,
        onProblem,
      });
      const next = direction === 'to-home' ? 'Unset TENDON_DATABASE_URL' : 'Set TENDON_DATABASE_URL';
      if (process.stderr.isTTY) process.stderr.write('\n');
      process.stdout.write(
        `Copied and compared: ${conversations} conversations with ${events} events, ${records} records. ${next} for the server.\n`,
      );
      end(problems > 0 ? EXIT.failed : EXIT.done);
    });
};
