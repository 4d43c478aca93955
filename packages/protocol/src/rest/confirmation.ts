import { z } from 'zod';

/** What nothing else decides: `always` and `rules` ask, `risk` asks at high and unknown risk, `never` lets it run; `always` heeds no `allow`. */
export const ConfirmationMode = z.enum(['always', 'risk', 'rules', 'never']);
export type ConfirmationMode = z.output<typeof ConfirmationMode>;

/**
 * Decides about actions that match all that it names. `command`: a program with the words that follow it, `git push`; `path`: a file or a
 * folder with all in it; `host`: a name with all below it; `tool`: a kind of action, or the name of an MCP tool.
 */
export const ConfirmationRule = z
  .object({
    decision: z.enum(['allow', 'ask', 'deny']),
    command: z.string().trim().min(1).max(500).optional(),
    path: z.string().startsWith('/').max(4096).optional(),
    host: z.string().trim().toLowerCase().min(1).max(253).optional(),
    tool: z.string().trim().min(1).max(200).optional(),
  })
  .refine(({ command, path, host, tool }) => command ?? path ?? host ?? tool, 'names no command, path, host or tool');
export type ConfirmationRule = z.output<typeof ConfirmationRule>;

export const ConfirmationRules = z.array(ConfirmationRule).max(500);
