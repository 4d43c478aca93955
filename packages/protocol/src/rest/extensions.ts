import { z } from 'zod';

/** What the server's user added to agents, with files in the server's home. */
export const ExtensionList = z.object({
  /** Files of TypeScript that agents call. */
  tools: z.array(z.object({ name: z.string(), description: z.string(), file: z.string(), is_read_only: z.boolean() })),
  /** Commands that are asked at moments of a conversation. */
  hooks: z.array(
    z.object({ name: z.string(), moment: z.string(), match: z.string().nullable(), command: z.string(), blocks_on_failure: z.boolean() }),
  ),
  plugins: z.array(
    z.object({
      id: z.string(),
      version: z.string(),
      description: z.string(),
      is_enabled: z.boolean(),
      /** In words: `skills`, `2 hooks`. */
      brings: z.array(z.string()),
    }),
  ),
  /** One sentence for each file that does not count. */
  problems: z.array(z.string()),
});
export type ExtensionList = z.output<typeof ExtensionList>;
