import { realpath } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import type { ConversationInfo } from '@tendon/client';
import { EXIT, type AddCommand } from './add-command.ts';
import { aligned } from './terminal/aligned.ts';
import { localTime } from './terminal/local-time.ts';
import { printable } from './terminal/printable.ts';
import { stateWords } from './terminal/state-words.ts';

const HELP = `
Works through the server of this home when one runs, else by itself. The other commands take the first letters of an id.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

interface Options {
  readonly number: number;
  readonly here?: boolean;
  readonly json?: boolean;
  readonly home?: string;
}

export const lsCommand: AddCommand = (program, end) => {
  program
    .command('ls')
    .description('list conversations, the newest first')
    .option('-n, --number <count>', 'how many', wholeNumber, 20)
    .option('--here', 'those in this folder alone')
    .option('--json', 'print JSON')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async ({ number, here = false, json = false, home }: Options) => {
      const { allConversations, openHomeServer } = await import('./attach/home-server.ts');
      await using server = await openHomeServer(home);
      const found: ConversationInfo[] = [];
      for await (const info of allConversations(server.rest, here ? await realpath(process.cwd()) : undefined)) {
        if (found.push(info) >= number) break;
      }
      const words = found.length === 0 ? 'There are no conversations.' : aligned(found.map(rowOf));
      process.stdout.write(`${json ? JSON.stringify({ conversations: found }, undefined, 2) : words}\n`);
      end(EXIT.done);
    });
};

function rowOf(info: ConversationInfo) {
  const { conversation_id: id, agent_state: state, last_updated_at: at, accumulated_cost: cost = 0, unpriced_tokens = 0, title } = info;
  return [
    id.slice(0, 8),
    stateWords(state),
    localTime(at),
    cost > 0 ? `$${cost.toFixed(2)}${unpriced_tokens > 0 ? ' +' : ''}` : unpriced_tokens > 0 ? 'price not known' : '',
    printable(title),
  ];
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It is a whole number above 0.');
  return Number(text);
}
