import type { ConnectionState, ConversationConnection, ConversationSnapshot } from '@tendon/client';
import type { Event, VolatileFrame } from '@tendon/protocol';

export interface Follower {
  event(event: Event): void;
  frame(frame: VolatileFrame): void;
  /** No more events will come: the conversation was closed or deleted. */
  ended?(): void;
  /** The connection was lost, is tried again, or is there. */
  connection?(now: ConnectionState): void;
  /** The server was not reached for some time. This is reported once, while the connection is still being tried. */
  offline?(): void;
}

/**
 * Reports what a connection shows: each event once and in order, and the pieces of a partial answer as they come. The returned function
 * ends it.
 */
export function followConnection(connection: ConversationConnection, to: Follower): () => void {
  let next = 0;
  let answer = { turn: -1, text: '' };
  let questions: ConversationSnapshot['questions'];
  let isOffline = false;
  let known: ConnectionState | undefined;
  const look = () => {
    const now = connection.getSnapshot();
    for (const event of newEvents(now.events, next)) to.event(event);
    next = (now.events.at(-1)?.id ?? -1) + 1 || next;
    // Its own event takes a partial answer away, so one that is there comes after all events.
    if (now.answer && now.answer.text !== '' && (now.answer.turn !== answer.turn || now.answer.text !== answer.text)) {
      const { turn, text } = now.answer;
      const isLonger = turn === answer.turn && text.startsWith(answer.text);
      const offset = isLonger ? answer.text.length : 0;
      answer = { turn, text };
      to.frame({ volatile: 'delta', turn, part: 'text', offset, text: text.slice(offset) });
    }
    if (now.questions && now.questions !== questions) to.frame({ volatile: 'network', questions: now.questions });
    questions = now.questions;
    if (now.connection !== known) to.connection?.((known = now.connection));
    const { state } = now.connection;
    const isLost = state === 'offline' && !isOffline;
    isOffline = state === 'offline' || (isOffline && state !== 'connected');
    if (isLost) to.offline?.();
    if (now.connection.state === 'refused') to.ended?.();
  };
  const unsubscribe = connection.subscribe(look);
  look();
  return unsubscribe;
}

/** Those from this id on: they are the last ones. */
function newEvents(events: readonly Event[], from: number): readonly Event[] {
  let at = events.length;
  while (at > 0 && events[at - 1]!.id >= from) at -= 1;
  return events.slice(at);
}
