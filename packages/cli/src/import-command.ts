import { withOptions, type EnvironmentOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';

const HELP = `
PATH is the file store of OpenHands (e.g. ~/.openhands), one conversation's folder in it, or a trajectory file. It is only read. What is here already
is left as it is, so doing it twice adds nothing. Stop the server first. Times without a zone are taken as this machine's local time.
Exit code: 0 all was taken, 1 something could not be, 2 wrong usage.`;

interface ImportCommandOptions extends EnvironmentOptions {
  readonly dryRun?: boolean;
}

export const importCommand: AddCommand = (program, end) => {
  program
    .command('import')
    .description('move conversations, settings and secrets of OpenHands over')
    .argument('<path>', 'where they are')
    .option('--dry-run', 'read everything, write nothing')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async (path: string, { dryRun = false, ...options }: ImportCommandOptions) => {
      const { importStore, readFiledConfig, systemClock } = await import('@tendon/server/headless');
      const read = await readFiledConfig(withOptions(process.env, options));
      if (!read.ok) {
        process.stderr.write(`${read.problems.join('\n')}\n`);
        return end(EXIT.usage);
      }
      let problems = 0;
      const summary = await importStore({
        path,
        dryRun,
        config: read.config,
        clock: systemClock,
        onProblem: (sentence) => {
          problems++;
          process.stderr.write(`${sentence}\n`);
        },
        onProgress: (id, done, of) => {
          if (process.stderr.isTTY || of > 1_000) process.stderr.write(`${id}: ${done} of ${of} events\n`);
        },
      });
      process.stdout.write(`${wordsFor(summary, dryRun)}\n`);
      end(problems > 0 || summary.failed > 0 ? EXIT.failed : EXIT.done);
    });
};

interface Counts {
  readonly conversations: number;
  readonly events: number;
  readonly known: number;
  readonly failed: number;
  readonly taken: readonly string[];
}

function wordsFor({ conversations, events, known, failed, taken }: Counts, dryRun: boolean): string {
  const parts = [
    `${dryRun ? 'Would import' : 'Imported'} ${count(conversations, 'conversation')} with ${count(events, 'event')}`,
    ...taken,
  ];
  const sentences = [`${parts.join(', ')}.`];
  if (dryRun) sentences.push('What is here already stays as it is.');
  if (known > 0) sentences.push(`${count(known, 'conversation')} had been imported before.`);
  if (failed > 0) sentences.push(`${count(failed, 'conversation')} could not be taken.`);
  return sentences.join(' ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
