/** A question to the conversation's model that is no turn of the agent: nothing of it is streamed to clients, and nothing is appended. */
import type { ErrorCode } from '@tendon/protocol';
import type { LlmAnswer, LlmRequest } from '../llm/llm-provider.ts';
import { accumulateMetrics, createPlaceStatus, turn } from './turn.ts';
import type { LoopPorts } from './ports.ts';
import type { AddedCost } from './host-capabilities.ts';

export type Aside =
  | { readonly type: 'answered'; readonly answer: LlmAnswer; readonly spent: AddedCost }
  /** `why` can be shown. */
  | { readonly type: 'failed'; readonly why: string; readonly code?: ErrorCode }
  | { readonly type: 'aborted' };

export type AsidePorts = Pick<LoopPorts, 'llm' | 'limits' | 'emit'>;

/** Never rejects. */
export async function askAside(ports: AsidePorts, request: LlmRequest, signal: AbortSignal): Promise<Aside> {
  const provider = await ports.llm().catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  if (provider instanceof Error) return { type: 'failed', why: `no model could be asked: ${provider.message}` };
  const outcome = await turn(provider, request, {
    signal,
    listener: {
      ...createPlaceStatus(ports.emit),
      onDelta: () => undefined,
      onRetry: async ({ failure }) =>
        ports.emit({ volatile: 'status', type: 'info', id: 'STATUS$LLM_RETRY', message: failure.error.message }),
      onFallback: async () => undefined,
      onResume: async () => undefined,
    },
  });
  if (outcome.type === 'aborted') return outcome;
  if (outcome.type === 'failed') {
    const { code, message } = outcome.failure.error;
    return { type: 'failed', why: `the model could not be asked: ${message}`, code };
  }
  const { answer } = outcome;
  const about = { maxBudgetUsd: ports.limits.maxBudgetUsd, contextWindow: provider.contextWindow };
  return { type: 'answered', answer, spent: (before) => accumulateMetrics(before, answer, about) };
}
