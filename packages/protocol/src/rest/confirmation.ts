import { z } from 'zod';
import { ChosenBy } from './models.ts';
import { GitProvider } from './secrets.ts';

/** What nothing else decides: `always` and `rules` ask, `risk` asks at high and unknown risk, `never` lets it run; `always` heeds no `allow`. */
export const ConfirmationMode = z.enum(['always', 'risk', 'rules', 'never']);
export type ConfirmationMode = z.output<typeof ConfirmationMode>;

/**
 * Decides about actions that match all that it names. `command`: a program with the words that follow it, `git push`; `path`: a file or a
 * folder with all in it; `host`: a name with all below it; `tool`: a kind of action, or the name of an MCP tool, as `mcp:NAME` where a
 * kind of action has that name.
 */
export const ConfirmationRule = z
  .object({
    decision: z.enum(['allow', 'ask', 'deny']),
    command: z.string().trim().min(1).max(500).optional(),
    path: z.string().startsWith('/').max(4096).optional(),
    host: z.string().trim().toLowerCase().min(1).max(253).optional(),
    tool: z.string().trim().min(1).max(200).optional(),
    /** `owner/name`: in conversations with this repository only. */
    repository: z.string().trim().min(1).max(300).optional(),
    /** Of `repository`. Without it an `allow` is about GitHub, and the others are about that name at every provider. */
    git_provider: GitProvider.optional(),
  })
  .refine(({ command, path, host, tool }) => command ?? path ?? host ?? tool, 'names no command, path, host or tool');
export type ConfirmationRule = z.output<typeof ConfirmationRule>;

export const ConfirmationRules = z.array(ConfirmationRule).max(500);

/** Saved rules, each with the name by which it is taken back. Rules that say the same have the same name. */
export const SavedRules = z.object({ rules: z.array(z.object({ id: z.string(), rule: ConfirmationRule })) });
export type SavedRules = z.output<typeof SavedRules>;

/** Rules of one conversation: in place of those that it has, or beside them. */
export const ConversationRules = z.object({ rules: ConfirmationRules });

/** How often rules would have decided in place of a person, had they been there. */
export const RuleTrial = z.object({
  /** The person's last decisions in this conversation that were looked at. */
  decisions: z.number().int(),
  /** How many of them nobody would have been asked about. */
  allowed: z.number().int(),
  /** How many of those a person rejected. */
  rejected: z.number().int(),
});
export type RuleTrial = z.output<typeof RuleTrial>;

/**
 * What a conversation has of its own from now on: what is named changes, `null` is as for all conversations. Rules stand in place of those
 * that it has. What waits and is allowed by a new policy runs; the rest goes on waiting.
 */
export const ChangeConfirmation = z
  .object({
    rules: ConfirmationRules.optional(),
    policy: ConfirmationMode.nullable().optional(),
    /** One of `GET /api/options/security-analyzers`. */
    analyzer: z.string().min(1).max(100).nullable().optional(),
  })
  .refine(
    ({ rules, policy, analyzer }) => [rules, policy, analyzer].some((given) => given !== undefined),
    'rules, a policy or an analyzer are expected',
  );
export type ChangeConfirmation = z.output<typeof ChangeConfirmation>;

/** What a person allows from now on: in all conversations, or in those with the repository of this one. */
export const AlwaysRule = z.object({ rule: ConfirmationRule, scope: z.enum(['repository', 'everywhere']) });
export type AlwaysRule = z.output<typeof AlwaysRule>;

export const ConversationConfirmation = z.object({
  mode: ConfirmationMode,
  mode_by: ChosenBy,
  analyzer: z.string(),
  analyzer_by: ChosenBy,
  /** Its own; a person can take them back. */
  rules: ConfirmationRules,
  /** Of the conversations that delegated it, and of the settings, as far as they hold here. */
  general_rules: ConfirmationRules,
  /** What would allow the action that waits, and others like it. */
  suggestions: ConfirmationRules,
});
export type ConversationConfirmation = z.output<typeof ConversationConfirmation>;
