import { writeFile } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import type { Conformance } from '@tendon/conformance';
import { LEVELS, type Level } from '@tendon/conformance/check';
import { Option } from 'commander';
import { type AddCommand, EXIT } from './add-command.ts';

interface Options {
  readonly level?: readonly string[];
  readonly only?: readonly string[];
  readonly key?: string;
  readonly deviations?: string;
  readonly parallel: string;
  readonly timeout: string;
  readonly silence: string;
  readonly json?: string;
  readonly markdown?: string;
  readonly badge?: string;
  readonly all?: boolean;
}

const HELP = `
Levels: ${LEVELS.join(', ')}.

It creates conversations on the server and removes them, and switches the server to a scripted model, which listens on this machine: use
a server that you started for this.

Checks of routes that the server's OpenAPI document lacks are skipped, and so are checks of keys without --key; the report lists them,
but they count neither as passed nor as failed.

A file of deviations lists known differences: {"server": "…", "deviations": {"v0-rest/delete": "why"}}.
Exit code: 0 no failures but known deviations, 1 a check failed or the server did not answer, 2 wrong usage.`;

export const conformanceCommand: AddCommand = (program, end) => {
  program
    .command('conformance')
    .description('check that a server, Tendon or another, does everything that its clients rely on')
    .argument('<url>', 'the server, as http://127.0.0.1:3000')
    .option('--level <names...>', 'only these levels')
    .option('--only <words...>', 'only checks with one of these words in their name')
    .option('--key <key>', "the server's key (X-Session-API-Key)")
    .option('--deviations <file>', 'a list of known deviations of the server')
    .addOption(new Option('--parallel <n>', 'checks at the same time').default('4', '4'))
    .addOption(new Option('--timeout <seconds>', 'how long an answer may take').default('30', '30'))
    .addOption(
      new Option('--silence <seconds>', 'how long a command may print nothing before the server hands it back').default('10', '10'),
    )
    .option('--json <file>', 'write the results as JSON')
    .option('--markdown <file>', 'write the results as a table of Markdown')
    .option('--badge <file>', 'write a badge (SVG)')
    .option('--all', 'print every check, not only those that failed')
    .addHelpText('after', HELP)
    .action(async (url: string, options: Options) => {
      const problem = problemWith(url, options);
      if (problem !== undefined) {
        process.stderr.write(`${problem}\n`);
        return end(EXIT.usage);
      }
      end(await run(url, options, process.stdout));
    });
};

function problemWith(url: string, { level = [], parallel, timeout, silence }: Options): string | undefined {
  const protocol = URL.parse(url)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:') return `${url} is no http address`;
  const unknown = level.find((name) => !LEVELS.includes(name as Level));
  if (unknown !== undefined) return `there is no level ${unknown}; there are ${LEVELS.join(', ')}`;
  if (!(Number(parallel) >= 1)) return `--parallel ${parallel} is no number of checks`;
  if (!(Number(timeout) > 0)) return `--timeout ${timeout} is no number of seconds`;
  if (!(Number(silence) > 0)) return `--silence ${silence} is no number of seconds`;
  return undefined;
}

async function run(url: string, options: Options, output: Writable): Promise<number> {
  const { conform, hasFailed, readDeviations, renderTable } = await import('@tendon/conformance');
  const deviations = options.deviations === undefined ? undefined : await readDeviations(options.deviations);
  const found = await conform({
    url,
    ...(options.key !== undefined && { key: options.key }),
    ...(options.level && { levels: options.level as readonly Level[] }),
    ...(options.only && { only: options.only }),
    ...(deviations && { deviations }),
    parallel: Number(options.parallel),
    timeoutMs: Number(options.timeout) * 1000,
    silenceSeconds: Number(options.silence),
    onResult: ({ verdict }) => void process.stderr.write(verdict === 'failed' ? 'F' : verdict === 'absent' ? '-' : '.'),
  });
  process.stderr.write('\n');
  await writeReports(found, options);
  output.write(renderTable(found, { all: options.all ?? false }));
  return hasFailed(found) ? EXIT.failed : EXIT.done;
}

async function writeReports(found: Conformance, { json, markdown, badge }: Options): Promise<void> {
  const { renderBadge, renderJson, renderMarkdown } = await import('@tendon/conformance');
  if (json !== undefined) await writeFile(json, renderJson(found));
  if (markdown !== undefined) await writeFile(markdown, `${renderMarkdown([found])}\n`);
  if (badge !== undefined) await writeFile(badge, renderBadge(found));
}
