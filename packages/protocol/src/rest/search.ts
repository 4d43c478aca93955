import { z } from 'zod';

/** Words that all stand in one message, command, result or report. */
export const SearchQuery = z.object({ query: z.string().max(1_000) });

/** The newest such place in each conversation. */
export const SearchAnswer = z.object({
  hits: z.array(
    z.object({
      conversation_id: z.string(),
      title: z.string(),
      event_id: z.number().int(),
      timestamp: z.string(),
      /** Whose words they are. */
      from: z.string(),
      /** The words with what stands around them, on one line. */
      excerpt: z.string(),
    }),
  ),
  /** Not everything was looked at. */
  is_partial: z.boolean(),
});
export type SearchAnswer = z.output<typeof SearchAnswer>;
