import { z } from 'zod';

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
