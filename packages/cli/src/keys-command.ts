import type { KeyInfo } from '@tendon/protocol';
import { Option } from 'commander';
import type { ApiKeyClient } from '@tendon/server/headless';
import { EXIT, type AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions } from './home-commands.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
Scopes: read sees everything but settings; drive also creates conversations, speaks to agents and writes files; admin may do everything.
Keys matter only where the server asks for one: set SESSION_API_KEY, or bind to an address other than loopback.
Works through the server of this home when one runs, else by itself.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

interface CreateOptions extends HomeOptions {
  readonly scope: 'read' | 'drive' | 'admin';
  readonly name: string;
  readonly expires?: string;
}

export const keysCommand: AddCommand = (program, end) => {
  const { add, carryOut } = addHomeCommands<ApiKeyClient & AsyncDisposable>([program, end], {
    name: 'keys',
    description: 'make, list and revoke keys for people and programs',
    help: HELP,
    open: async (config) => (await import('@tendon/server/headless')).openApiKeyClient(config),
  });

  add('list', 'what keys there are, and when each was last used (the default)').action((options: HomeOptions) =>
    carryOut(options, async (client) => {
      const keys = await client.list();
      return { json: { keys }, text: keys.length === 0 ? 'There are no keys.' : keys.map(lineOf).join('\n') };
    }),
  );
  add('create', 'make a key; it is shown once')
    .requiredOption('--name <text>', 'whom or what it is for')
    .addOption(new Option('--scope <scope>', 'what it lets its holder do').choices(['read', 'drive', 'admin']).makeOptionMandatory())
    .option('--expires <duration>', 'when it ends, e.g. 12h or 30d (default: when it is revoked)')
    .action(({ scope, name, expires, ...options }: CreateOptions) => {
      const seconds = expires === undefined ? null : durationSeconds(expires);
      if (seconds === undefined || name.trim() === '' || name.length > 100) {
        process.stderr.write('--expires takes a number with m, h or d, between 1m and 366d; --name takes 1 to 100 characters.\n');
        return end(EXIT.usage);
      }
      return carryOut(options, async (client) => {
        const made = await client.create({ name: name.trim(), scope, expires_in: seconds });
        return { json: made, text: made.key };
      });
    });
  add('revoke <id>', 'revoke a key, and every session and link that was made with it').action((id: string, options: HomeOptions) =>
    carryOut(options, async (client) => {
      await client.revoke(id);
      return { json: { revoked: true }, text: `The key ${id} opens nothing any more.` };
    }),
  );
};

function lineOf({ id, scope, name, expires_at, last_used_at }: KeyInfo): string {
  const ends = expires_at === null ? 'does not expire' : `expires ${expires_at}`;
  return `${id}  ${scope.padEnd(5)}  ${printable(name)}  (${ends}, ${last_used_at === null ? 'never used' : `last used ${last_used_at}`})`;
}

const SECONDS = { m: 60, h: 3_600, d: 86_400 } as const;

/** Parses `90m`, `12h` or `30d`; `undefined` for anything else, and for a time outside a minute to a year. */
export function durationSeconds(text: string): number | undefined {
  const match = /^(\d{1,6})([mhd])$/.exec(text.trim());
  const seconds = match ? Number(match[1]) * SECONDS[match[2] as keyof typeof SECONDS] : 0;
  return seconds >= 60 && seconds <= 366 * 86_400 ? seconds : undefined;
}
