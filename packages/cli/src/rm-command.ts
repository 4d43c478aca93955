import { createInterface } from 'node:readline/promises';
import { EXIT, type AddCommand } from './add-command.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
This cannot be undone. It deletes the events, the sandbox, and a folder that was made for the conversation. Your own folders stay.
Takes an id or its first letters. Works through the server of this home when one runs, else by itself.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

interface Options {
  readonly force?: boolean;
  readonly json?: boolean;
  readonly home?: string;
}

export const rmCommand: AddCommand = (program, end) => {
  program
    .command('rm')
    .description('delete conversations')
    .argument('<conversation...>', 'their ids')
    .option('-f, --force', 'do not ask')
    .option('--json', 'print JSON')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async (given: readonly string[], { force = false, json = false, home }: Options) => {
      if (!force && !process.stdin.isTTY) {
        process.stderr.write('Nobody can be asked here: say --force.\n');
        return end(EXIT.usage);
      }
      const { findConversation, openHomeServer } = await import('./attach/home-server.ts');
      await using server = await openHomeServer(home);
      const removed: string[] = [];
      for (const each of given) {
        const { conversation_id: id, title } = await findConversation(server.rest, each);
        if (!force && !(await isMeant(printable(title)))) continue;
        if (await server.rest.conversations.delete(id)) removed.push(id);
      }
      process.stdout.write(json ? `${JSON.stringify({ removed })}\n` : removed.map((id) => `Deleted: ${id}\n`).join(''));
      end(EXIT.done);
    });
};

async function isMeant(title: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`Delete "${title}"? [y/N] `);
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}
