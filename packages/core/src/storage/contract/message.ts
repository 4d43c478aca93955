import { MessageAction, type Event } from '@tendon/protocol';
import type { SourcedDraft } from '../../log/event-log.ts';

/** A message from the user, to append. */
export function message(content: string): SourcedDraft {
  return { ...MessageAction.create({ content }), source: 'user' };
}

/** What the message says. */
export function contentOf(event: Event): string {
  return (event as unknown as { args: { content: string } }).args.content;
}
