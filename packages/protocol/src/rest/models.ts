import { z } from 'zod';

/** How much a model thinks before it answers, as far as its vendor offers that. */
export const ModelEffort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
export type ModelEffort = z.output<typeof ModelEffort>;

/** A model by its name, `provider/model`. */
export const ModelName = z.string().trim().min(1).max(200);

/** Who chose: a person for this conversation, the stored settings, where the server was started, or nobody. */
export const ChosenBy = z.enum(['conversation', 'settings', 'server', 'nobody']);
export type ChosenBy = z.output<typeof ChosenBy>;

/** What a conversation asks from its next turn on, and who chose each; `value` is null where nobody did. */
export const ConversationModels = z.object({
  model: z.object({ value: z.string(), by: ChosenBy }),
  /** Null: as the vendor sets it. */
  effort: z.object({ value: ModelEffort.nullable(), by: ChosenBy }),
  /** Null: the answer fails when the model does. */
  fallback: z.object({ value: z.string().nullable(), by: ChosenBy }),
  /** Null: the model does that too. */
  small: z.object({ value: z.string().nullable(), by: ChosenBy }),
});
export type ConversationModels = z.output<typeof ConversationModels>;

/** What a model at its endpoint has shown that it can do; null: nobody knows yet. */
export const ModelInfo = z.object({
  model: z.string(),
  /** Null: of no conversation that chose none. */
  use: z.enum(['main', 'small', 'fallback']).nullable(),
  /** False: calls are written into the text. */
  tools: z.boolean().nullable(),
  /** Several calls in one answer. */
  parallel_calls: z.boolean().nullable(),
  /** False: pictures are left out. */
  images: z.boolean().nullable(),
  streaming: z.boolean().nullable(),
  /** Tokens. */
  context_window: z.number().nullable(),
});
export type ModelInfo = z.output<typeof ModelInfo>;

export const ModelList = z.object({ models: z.array(ModelInfo) });

/** Default: the model of conversations that chose none. */
export const ProbeRequest = z.object({ model: z.string().trim().min(1).max(200).optional() });

export const ModelProbeInfo = ModelInfo.extend({
  /** Why nothing was found out, in the provider's words. */
  failure: z.string().nullable(),
  /** What the questions cost. */
  tokens: z.number(),
  cost_usd: z.number(),
});
export type ModelProbeInfo = z.output<typeof ModelProbeInfo>;
