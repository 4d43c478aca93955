import type { Command } from 'commander';
import type { Config } from '@tendon/server/headless';
import { withOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';

export interface HomeOptions {
  readonly home?: string;
  readonly json?: boolean;
}

export interface Report {
  readonly json: unknown;
  /** `undefined`: it printed for itself. */
  readonly text: string | undefined;
  /** Default: done. */
  readonly code?: number;
}

export interface HomeCommands<Client> {
  /** The command `list` is the default one. */
  add(name: string, description: string): Command;
  /** Opens the client, does the work and prints what it reports. What fails is an Error whose message can be shown. */
  carryOut(options: HomeOptions, work: (client: Client) => Promise<Report>): Promise<void>;
}

interface HomeGroup<Client> {
  readonly name: string;
  readonly description: string;
  readonly help: string;
  readonly open: (config: Config) => Promise<Client>;
}

/** A group of commands about what a home stores, through the server that runs on it or without one. */
export function addHomeCommands<Client extends AsyncDisposable>(
  [program, end]: Parameters<AddCommand>,
  { help, open, ...about }: HomeGroup<Client>,
): HomeCommands<Client> {
  const group = program.command(about.name).helpCommand(false).description(about.description).addHelpText('after', help);
  return {
    add: (name, description) =>
      group
        .command(name, { isDefault: name === 'list' })
        .description(description)
        .option('--json', 'print JSON')
        .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
        .addHelpText('after', help),
    async carryOut({ home, json = false }, work) {
      const { readFiledConfig } = await import('@tendon/server/headless');
      const read = await readFiledConfig(withOptions(process.env, home === undefined ? {} : { home }));
      if (!read.ok) {
        process.stderr.write(`${read.problems.join('\n')}\n`);
        return end(EXIT.usage);
      }
      await using client = await open(read.config);
      const { json: value, text, code = EXIT.done } = await work(client);
      if (text !== undefined) process.stdout.write(`${json ? JSON.stringify(value, undefined, 2) : text}\n`);
      end(code);
    },
  };
}
