import { InvalidArgumentError } from 'commander';
import { EXIT, type AddCommand } from './add-command.ts';

const HELP = `
The new conversation has the events up to that one, and its own folder with the files as they were then and the git history as it is now.
Fetch its commits with: git fetch FOLDER. Works through the server that runs on this home.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

interface Options {
  readonly home?: string;
  readonly json?: boolean;
}

export const forkCommand: AddCommand = (program, end) => {
  program
    .command('fork')
    .description('continue from an event of a conversation in a new one, with a folder of its own')
    .argument('<conversation>', 'its id, or the first letters of it')
    .argument('[event]', 'the id of the last event that both have (default: the last one)', eventOf)
    .option('--json', 'print JSON')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async (conversation: string, event: number | undefined, { home, json = false }: Options) => {
      const { openUndoClient } = await import('./undo/undo-client.ts');
      const client = await openUndoClient(home, conversation);
      const forked = await client.fork(event);
      process.stdout.write(`${json ? JSON.stringify(forked, undefined, 2) : forked.conversation_id}\n`);
      end(EXIT.done);
    });
};

function eventOf(text: string): number {
  if (!/^(?:0|[1-9]\d{0,14})$/.test(text)) throw new InvalidArgumentError('It is the id of an event.');
  return Number(text);
}
