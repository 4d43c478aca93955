/** Dollars, where some models have no known price. */
import type { LlmMetrics } from '@tendon/protocol';
import type { LlmAnswer } from '../llm/llm-provider.ts';

/** What a dollar stands for where nobody knows the price of a token: near what such models cost. */
const TOKENS_PER_DOLLAR = 1_000_000;

export function spentOf({ accumulated_cost: cost, unpriced_tokens: tokens = 0 }: LlmMetrics): number {
  return cost + tokens / TOKENS_PER_DOLLAR;
}

export function costOf({ costUsd, isUnpriced, usage }: Pick<LlmAnswer, 'costUsd' | 'isUnpriced' | 'usage'>): number {
  return costUsd + (isUnpriced ? (usage.inputTokens + usage.outputTokens) / TOKENS_PER_DOLLAR : 0);
}
