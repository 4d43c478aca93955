import { SearchAnswer, SearchQuery } from '@tendon/protocol';
import type { Routes } from '../platform/http/app.ts';
import { searchAll, type PastParts } from './search-past.ts';

/** Ours: what was written and done, over all conversations. */
export const searchRoutes: Routes<PastParts> = (app, { conversations, eventSearch, logger }) => {
  app.get(
    '/api/search',
    { schema: { querystring: SearchQuery, response: { 200: SearchAnswer } } },
    async ({ query, signal, principal: by }) => {
      const { hits, isPartial } = await searchAll(query.query, { parts: { conversations, eventSearch, logger }, signal, by });
      return {
        hits: hits.map(({ conversationId, title, eventId, timestamp, from, excerpt }) => ({
          conversation_id: conversationId,
          title,
          event_id: eventId,
          timestamp,
          from,
          excerpt,
        })),
        is_partial: isPartial,
      };
    },
  );
};
