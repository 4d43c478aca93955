import type { LlmMetrics } from '@tendon/protocol';
import type { LlmAnswer } from '../llm/llm-provider.ts';

/** Cost and tokens up to and including this answer. The lists stay empty, as clients of every release get them live. */
export function accumulateMetrics(
  before: LlmMetrics | undefined,
  answer: LlmAnswer,
  limits: { readonly maxBudgetUsd: number | undefined; readonly contextWindow: number | undefined },
): LlmMetrics {
  const tokens = before?.accumulated_token_usage;
  const { usage } = answer;
  return {
    accumulated_cost: (before?.accumulated_cost ?? 0) + answer.costUsd,
    max_budget_per_task: limits.maxBudgetUsd ?? null,
    accumulated_token_usage: {
      model: answer.model,
      prompt_tokens: (tokens?.prompt_tokens ?? 0) + usage.inputTokens,
      completion_tokens: (tokens?.completion_tokens ?? 0) + usage.outputTokens,
      cache_read_tokens: (tokens?.cache_read_tokens ?? 0) + usage.cacheReadTokens,
      cache_write_tokens: (tokens?.cache_write_tokens ?? 0) + usage.cacheWriteTokens,
      context_window: limits.contextWindow ?? 0,
      per_turn_token: usage.inputTokens + usage.outputTokens,
      response_id: answer.id,
    },
    costs: [],
    response_latencies: [],
    token_usages: [],
  };
}
