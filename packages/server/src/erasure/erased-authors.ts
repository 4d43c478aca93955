/**
 * Wraps the event store so that readers see no names of erased users. The stored events are frozen and keep the name; readers get the
 * author's id with a placeholder.
 */
import { withLogMethods, type EventLog, type EventStore } from '@tendon/core';
import type { Event } from '@tendon/protocol';

/** The placeholder for a user's name; `undefined` when the user was not erased. */
export type ErasedName = (userId: string) => string | undefined;

export function withoutErasedNames(events: EventStore, erasedName: ErasedName): EventStore {
  const wrapped = new WeakMap<EventLog, EventLog>();
  return {
    async open(conversationId) {
      const log = await events.open(conversationId);
      const shown = wrapped.get(log) ?? shownLog(log, erasedName);
      wrapped.set(log, shown);
      return shown;
    },
    delete: (conversationId) => events.delete(conversationId),
  };
}

function shownLog(log: EventLog, erasedName: ErasedName): EventLog {
  const shown = (event: Event): Event => {
    const name = event.author && erasedName(event.author.id);
    return name === undefined ? event : Object.freeze({ ...event, author: { id: event.author!.id, name } });
  };
  return withLogMethods(log, {
    read: async (range) => (await log.read(range)).map(shown),
    async *follow(from, options) {
      for await (const event of log.follow(from, options)) yield shown(event);
    },
  });
}
