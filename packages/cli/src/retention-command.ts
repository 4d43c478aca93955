import { InvalidArgumentError } from 'commander';
import type { OldConversation, OldConversations } from '@tendon/protocol';
import { EXIT, type AddCommand } from './add-command.ts';
import { aligned } from './terminal/aligned.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
With TENDON_RETENTION_DAYS a server deletes conversations in which nothing happened for so many days, with all that belongs to them. Those that
are pinned, open, at work or wait for a decision stay. This command deletes nothing.
Works through the server of this home when one runs, else by itself. Conversations are named by their ids or the first letters of those.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

interface HomeOptions {
  readonly json?: boolean;
  readonly home?: string;
}

export const retentionCommand: AddCommand = (program, end) => {
  const group = program
    .command('retention')
    .helpCommand(false)
    .description('see which conversations are deleted for their age, and pin some');
  group.addHelpText('after', HELP);
  const add = (name: string, description: string, isDefault = false) =>
    group
      .command(name, { isDefault })
      .description(description)
      .option('--json', 'print JSON')
      .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
      .addHelpText('after', HELP);

  add('list', 'those that would be deleted now, and old ones that stay, each with the reason (the default)', true)
    .option('--dry-run', 'says that nothing is deleted, which holds without it too')
    .option('--days <days>', 'in place of TENDON_RETENTION_DAYS', wholeDays)
    .action(async ({ days, json = false, home }: HomeOptions & { readonly days?: number }) => {
      const { openHomeServer } = await import('./attach/home-server.ts');
      await using server = await openHomeServer(home);
      const found = await server.rest.governance.oldConversations(days);
      process.stdout.write(`${json ? JSON.stringify(found, undefined, 2) : textOf(found)}\n`);
      end(EXIT.done);
    });
  for (const isPinned of [true, false]) {
    add(isPinned ? 'pin' : 'unpin', isPinned ? 'never delete these for their age' : 'delete these for their age, as others')
      .argument('<conversation...>', 'their ids')
      .action(async (given: readonly string[], { json = false, home }: HomeOptions) => {
        const { findConversation, openHomeServer } = await import('./attach/home-server.ts');
        await using server = await openHomeServer(home);
        const changed: { readonly conversation_id: string; readonly is_pinned: boolean }[] = [];
        for (const each of given) {
          const { conversation_id } = await findConversation(server.rest, each);
          await server.rest.conversations.pin(conversation_id, isPinned);
          changed.push({ conversation_id, is_pinned: isPinned });
        }
        const words = changed.map(({ conversation_id: id }) => `${isPinned ? 'Pinned' : 'Unpinned'}: ${id}`).join('\n');
        process.stdout.write(`${json ? JSON.stringify({ conversations: changed }, undefined, 2) : words}\n`);
        end(EXIT.done);
      });
  }
};

function textOf({ days, conversations, has_more }: OldConversations): string {
  if (conversations.length === 0) return `In every conversation something happened within the last ${days} days.`;
  const more = has_more ? '\nThere are more.' : '';
  return `${aligned(conversations.map(rowOf))}${more}`;
}

function rowOf({ conversation_id: id, last_event_at: at, stays, title }: OldConversation): string[] {
  return [id.slice(0, 8), at.slice(0, 16).replace('T', ' '), stays === undefined ? 'goes' : `stays: ${stays}`, printable(title)];
}

function wholeDays(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('It is a whole number of days above 0.');
  return Number(text);
}
