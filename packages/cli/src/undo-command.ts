import type { CheckpointChanges, CheckpointInfo, ConversationCheckpoints } from '@tendon/protocol';
import { InvalidArgumentError, Option } from 'commander';
import { EXIT, type AddCommand } from './add-command.ts';
import { printable } from './terminal/printable.ts';
import type { Restored, UndoClient } from './undo/undo-client.ts';

const HELP = `
Without a checkpoint it undoes the newest step. The current files are stored first, so you can undo the restore too.
Files that look like secrets (.env, keys), dependencies and caches are left as they are. Works through the server that runs on this home.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

interface Options {
  readonly home?: string;
  readonly json?: boolean;
  readonly list?: boolean;
  readonly dryRun?: boolean;
  readonly what: Restored;
}

type Report = { readonly json: unknown; readonly text: string };

export const undoCommand: AddCommand = (program, end) => {
  program
    .command('undo')
    .description('restore the workspace, the conversation or both to what they were before a step')
    .argument('<conversation>', 'its id, or the first letters of it')
    .argument('[checkpoint]', 'a number of the list', numberOf)
    .option('--list', 'list the checkpoints, newest first, and change nothing')
    .option('--dry-run', 'print what would change in the files, and change nothing')
    .addOption(new Option('--what <part>', 'what goes back').choices(['files', 'conversation', 'both']).default('files'))
    .option('--json', 'print JSON')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async (conversation: string, checkpoint: number | undefined, options: Options) => {
      const { openUndoClient } = await import('./undo/undo-client.ts');
      const client = await openUndoClient(options.home, conversation);
      const { json, text } = options.list ? listed(await client.list()) : await undo(client, checkpoint, options);
      process.stdout.write(`${options.json ? JSON.stringify(json, undefined, 2) : text}\n`);
      end(EXIT.done);
    });
};

async function undo(client: UndoClient, given: number | undefined, { what, dryRun = false }: Options): Promise<Report> {
  const checkpoint = given ?? newestStep(await client.list());
  const changes = what === 'conversation' && !dryRun ? undefined : await client.changes(checkpoint);
  if (dryRun) return { json: changes, text: changes!.count === 0 ? 'No file would change.' : linesOf(changes!) };
  const done = await client.restore(checkpoint, what);
  if (done.status === 'pending') return { json: done, text: 'It goes on; its outcome will be among the events.' };
  const { checkpoints } = await client.list();
  const [newest] = checkpoints;
  const back = newest && newest.event_id === null ? `\nTo take this back: restore checkpoint ${newest.number}.` : '';
  const left = done.left.length === 0 ? '' : `\nThese could not be restored: ${done.left.map(printable).join(', ')}`;
  const lines = changes && changes.count > 0 ? `\n${linesOf(changes)}` : '';
  return { json: { ...done, checkpoint }, text: `${restoredWords(checkpoint, what, done.changed)}${lines}${left}${back}` };
}

function restoredWords(checkpoint: number, what: Restored, changed: number): string {
  const files = `Restored the files of checkpoint ${checkpoint}: ${changed} ${changed === 1 ? 'file' : 'files'} changed.`;
  if (what === 'files') return `${files} The conversation stays as it is.`;
  const conversation = 'The conversation goes on from before its step.';
  return what === 'both' ? `${files} ${conversation}` : `${conversation} The files stay as they are.`;
}

/** Throws with a reason that can be shown. */
function newestStep({ checkpoints, off }: ConversationCheckpoints): number {
  const found = checkpoints.find(({ event_id }) => event_id !== null);
  if (found) return found.number;
  throw new Error(`There is no step to take back${off === null ? '.' : `: ${off}.`}`);
}

function listed({ checkpoints, left_out, off }: ConversationCheckpoints): Report {
  const lines = [
    ...(checkpoints.length === 0 ? ['There are no checkpoints.'] : checkpoints.map(lineOf)),
    ...(left_out.length === 0 ? [] : [`Not stored: ${left_out.map(printable).join(', ')}`]),
    ...(off === null ? [] : [`No further ones are made: ${printable(off)}`]),
  ];
  return { json: { checkpoints, left_out, off }, text: lines.join('\n') };
}

function lineOf({ number, made_at, event_id, files }: CheckpointInfo): string {
  const of = event_id === null ? 'before a restore' : `before event ${event_id}`;
  return `${String(number).padStart(4)}  ${made_at}  ${of}, ${files} ${files === 1 ? 'file' : 'files'}`;
}

const MARKS = { added: '+', changed: '~', removed: '-' } as const;

function linesOf({ count, changes }: CheckpointChanges): string {
  const more = count > changes.length ? [`… and ${count - changes.length} more`] : [];
  return [...changes.map(({ path, change }) => `${MARKS[change]} ${printable(path)}`), ...more].join('\n');
}

function numberOf(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It is the number of a checkpoint.');
  return Number(text);
}
