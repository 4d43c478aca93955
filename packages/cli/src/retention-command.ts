import { InvalidArgumentError } from 'commander';
import { ApiError, type Rest } from '@tendon/client';
import type { OldConversation, OldConversations } from '@tendon/protocol';
import type { AddCommand } from './add-command.ts';
import type { HomeServer } from './attach/home-server.ts';
import { addHomeCommands, type HomeOptions, type Report } from './home-commands.ts';
import { aligned } from './terminal/aligned.ts';
import { localTime } from './terminal/local-time.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
With TENDON_RETENTION_DAYS a server deletes conversations in which nothing has happened for that many days, with everything that belongs to
them. Conversations that are pinned, open, at work or waiting for a decision stay. This command deletes nothing.
Works through the server of this home when one runs, else by itself. Conversations are named by their ids or the first letters of those.
Exit code: 0 done, 1 it could not be done, 2 wrong usage.`;

/** Lists conversations that nobody has used for a long time. */
export const retentionCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands<HomeServer>(program, {
    name: 'retention',
    description: 'see which conversations are deleted for their age, and pin some',
    help: HELP,
    open: async (config) => (await import('./attach/home-server.ts')).openHomeServer(config.home),
  });

  add('list', 'those that would be deleted now, and old ones that stay, each with the reason (the default)')
    .option('--dry-run', 'has no effect: this command never deletes anything')
    .option('--days <days>', 'use this number instead of TENDON_RETENTION_DAYS', wholeDays)
    .action(({ days, ...options }: HomeOptions & { readonly days?: number }) =>
      carryOut(options, async ({ rest }) => {
        const found = await rest.governance.oldConversations(days).catch((error: unknown) => {
          // Only the server knows whether it has a number of its own.
          const isWithout = days === undefined && error instanceof ApiError && error.status === 400;
          throw isWithout ? new Error('TENDON_RETENTION_DAYS is not set: name a number of days with --days.') : error;
        });
        return { json: found, text: textOf(found) };
      }),
    );
  for (const isPinned of [true, false]) {
    add(isPinned ? 'pin' : 'unpin', isPinned ? 'never delete these for their age' : 'delete these for their age, as others')
      .argument('<conversation...>', 'their ids')
      .action((given: readonly string[], options: HomeOptions) => carryOut(options, ({ rest }) => pinAll(rest, given, isPinned)));
  }
};

async function pinAll(rest: Rest, given: readonly string[], isPinned: boolean): Promise<Report> {
  const { findConversation } = await import('./attach/home-server.ts');
  const changed: { readonly conversation_id: string; readonly is_pinned: boolean }[] = [];
  for (const each of given) {
    const { conversation_id } = await findConversation(rest, each);
    await rest.conversations.pin(conversation_id, isPinned);
    changed.push({ conversation_id, is_pinned: isPinned });
  }
  const words = changed.map(({ conversation_id: id }) => `${isPinned ? 'Pinned' : 'Unpinned'}: ${id}`).join('\n');
  return { json: { conversations: changed }, text: words };
}

function textOf({ days, conversations, has_more }: OldConversations): string {
  if (conversations.length === 0) return `In every conversation something happened within the last ${days} days.`;
  const more = has_more ? '\nThere are more.' : '';
  return `${aligned(conversations.map(rowOf))}${more}`;
}

function rowOf({ conversation_id: id, last_event_at: at, stays, title }: OldConversation): string[] {
  return [id.slice(0, 8), localTime(at), stays === undefined ? 'goes' : `stays: ${stays}`, printable(title)];
}

function wholeDays(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('It is a whole number of days above 0.');
  return Number(text);
}
