import { z } from 'zod';

/** `none`: nothing. `allowlist`: package registries, git hosts and what is added. `full`: the public internet. */
export const NetworkMode = z.enum(['none', 'allowlist', 'full']);
export type NetworkMode = z.output<typeof NetworkMode>;

/** Names, or `*.name` for every name below. */
export const NetworkAllow = z.array(z.string().max(253)).max(200);

/** Where a conversation's sandbox may connect to; what is left out is the server's default. */
export const NetworkParams = z.object({
  mode: NetworkMode.nullish(),
  /** Added to the list. */
  allow: NetworkAllow.nullish(),
});
export type NetworkParams = z.output<typeof NetworkParams>;

/** A place that is on no list, and that the sandbox wants to reach: a person decides. */
export const NetworkQuestion = z.object({ host: z.string(), port: z.number().int(), asked_at: z.string() });
export type NetworkQuestion = z.output<typeof NetworkQuestion>;

/** `once`: for this conversation. */
export const NetworkAnswer = z.object({ host: z.string().max(253), answer: z.enum(['once', 'refuse']) });
export type NetworkAnswer = z.output<typeof NetworkAnswer>;

/** A name that all conversations may reach from now on. */
export const AlwaysAllowed = z.object({ host: z.string().max(253) });
export type AlwaysAllowed = z.output<typeof AlwaysAllowed>;

export const ConversationNetwork = z.object({
  mode: NetworkMode,
  allow: z.array(z.string()),
  /** `host:port` near the server that its operator opened. */
  allow_private: z.array(z.string()),
  /** Where the sandbox wanted to connect to and might not, the newest last. */
  refused: z.array(z.object({ host: z.string(), port: z.number().int(), reason: z.string(), count: z.number().int() })),
  /** Where it has connected to, the newest last; the times of the newest connections, the bytes of ended ones. */
  reached: z.array(
    z.object({
      host: z.string(),
      port: z.number().int(),
      count: z.number().int(),
      times: z.array(z.string()),
      bytes_in: z.number().int(),
      bytes_out: z.number().int(),
    }),
  ),
  /** What waits for an answer of a person, the oldest first. */
  questions: z.array(NetworkQuestion),
});
export type ConversationNetwork = z.output<typeof ConversationNetwork>;
