import { cutMiddle, isAction, isObservation, messageOf, type Event } from '@tendon/protocol';

export interface Transcript {
  add(event: Event): void;
  text(): string;
}

const MAX_ENTRY_CHARS = 4000;

/** A conversation as plain text for a reader that cannot see its events: who did what and what came of it, a paragraph each. Of a long one the middle is left out. */
export function createTranscript({ maxChars }: { readonly maxChars: number }): Transcript {
  const paragraphs: string[] = [];
  return {
    add(event) {
      const words = paragraphOf(event);
      if (words !== '') paragraphs.push(cutMiddle(words, { limit: MAX_ENTRY_CHARS }));
    },
    text: () => cutMiddle(paragraphs.join('\n\n'), { limit: maxChars }),
  };
}

function paragraphOf(event: Event): string {
  if (isAction(event)) {
    if (event.action === 'system' || event.action === 'change_agent_state' || event.action === 'recall') return '';
    if (event.action === 'condensation') return `[Summary of what was before]\n${event.args.summary ?? ''}`;
    const who = event.source === 'user' ? 'The user' : 'The engineer';
    return `${who}: ${messageOf(event)}${thoughtOf(event.args)}`;
  }
  if (!isObservation(event)) return '';
  if (event.observation === 'agent_state_changed' || event.observation === 'condense' || event.observation === 'null') return '';
  return event.content === '' ? '' : `[Result of ${event.observation}]\n${event.content}`;
}

function thoughtOf(args: Readonly<Record<string, unknown>>): string {
  return typeof args.thought === 'string' && args.thought !== '' ? `\n(${args.thought})` : '';
}
