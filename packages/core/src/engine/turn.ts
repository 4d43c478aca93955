/** One call of the model, from the request to a complete answer. It appends nothing. */
import { catalogError, type VolatileFrame, type LlmMetrics } from '@tendon/protocol';
import { unlessAborted } from '@tendon/protocol/async';
import type { LlmAnswer, LlmEvent, LlmFailure, LlmProvider, LlmRequest } from '../llm/llm-provider.ts';

export type TurnOutcome =
  | { readonly type: 'answered'; readonly answer: LlmAnswer }
  | { readonly type: 'failed'; readonly failure: LlmFailure }
  /** Somebody ended it; nothing that came until then counts. */
  | { readonly type: 'aborted' };

export interface TurnListener {
  onDelta(delta: Extract<LlmEvent, { type: 'delta' }>): void;
  /** A call of that tool is being written. */
  onCalling?(tool: string): void;
  /** The provider waits before it tries again; deltas so far are void. */
  onRetry(retry: Extract<LlmEvent, { type: 'retry' }>): Promise<void>;
  /** Another model answers; deltas so far are void. */
  onFallback(fallback: Extract<LlmEvent, { type: 'fallback' }>): Promise<void>;
  /** The request waits for its turn at the endpoint. */
  onQueued(queued: Extract<LlmEvent, { type: 'queued' }>): void;
  /** The request no longer waits; also called when it never did. */
  onAdmitted(): void;
  /** The first sign of life after a retry. */
  onResume(): Promise<void>;
}

interface TurnOptions {
  readonly signal: AbortSignal;
  readonly listener: TurnListener;
}

/** Never rejects for the provider's sake. `Failure is a value`: a stream that ends without a last word is a failure too. */
export async function turn(provider: LlmProvider, request: LlmRequest, options: TurnOptions): Promise<TurnOutcome> {
  try {
    return await hear(guarded(provider, request, options.signal), options);
  } finally {
    options.listener.onAdmitted();
  }
}

async function hear(events: AsyncIterable<LlmEvent>, { signal, listener }: TurnOptions): Promise<TurnOutcome> {
  let waiting = false;
  for await (const event of events) {
    if (signal.aborted) return { type: 'aborted' };
    if (event.type === 'queued') {
      listener.onQueued(event);
      continue;
    }
    if (event.type === 'admitted') {
      listener.onAdmitted();
      continue;
    }
    if (event.type === 'retry') {
      waiting = true;
      await listener.onRetry(event);
      continue;
    }
    if (event.type === 'fallback') {
      waiting = false;
      await listener.onFallback(event);
      continue;
    }
    if (event.type === 'failed') return event;
    if (event.type === 'done')
      return isEmpty(event.answer) ? failed('it gave an empty answer') : { type: 'answered', answer: event.answer };
    if (waiting) await listener.onResume();
    waiting = false;
    if (event.type === 'calling') listener.onCalling?.(event.tool);
    else listener.onDelta(event);
  }
  return signal.aborted ? { type: 'aborted' } : failed('its answer broke off');
}

/** The border to providers: what one throws becomes a failure, and one that does not hear the abort is left behind. */
async function* guarded(provider: LlmProvider, request: LlmRequest, signal: AbortSignal): AsyncIterable<LlmEvent> {
  if (signal.aborted) return;
  let events: AsyncIterator<LlmEvent> | undefined;
  try {
    events = provider.stream(request, { signal })[Symbol.asyncIterator]();
    for (;;) {
      const next = await unlessAborted(events.next(), signal);
      if (next === undefined || next.done) return;
      yield next.value;
    }
  } catch (error) {
    yield failed(error instanceof Error ? error.message : String(error));
  } finally {
    events?.return?.().catch(() => undefined);
  }
}

function isEmpty({ text, toolCalls }: LlmAnswer): boolean {
  return toolCalls.length === 0 && text.trim() === '';
}

export function failed(detail: string): { readonly type: 'failed'; readonly failure: LlmFailure } {
  return { type: 'failed', failure: { error: catalogError('LLM_FAILED', detail), retryable: false } };
}

/** Shows clients when a request begins and stops to wait for its turn at the endpoint. The conversation stays ready for messages. */
export function createPlaceStatus(emit: (frame: VolatileFrame) => void): Pick<TurnListener, 'onQueued' | 'onAdmitted'> {
  let waits = false;
  const show = (message: string): void => emit({ volatile: 'status', type: 'info', id: 'STATUS$READY', message });
  return {
    onQueued({ ahead, limit, at }) {
      waits = true;
      const before = ahead === 0 ? 'this one is next' : `${ahead} wait before this one`;
      const others = limit === 1 ? 'other' : 'others';
      if (at === 'server') show(`Waiting for the server: it works on ${limit} ${others} at once, ${before}.`);
      else show(`Waiting for the model: it is answering ${limit} other ${limit === 1 ? 'request' : 'requests'}, ${before}.`);
    },
    onAdmitted() {
      if (waits) show('');
      waits = false;
    },
  };
}

/** Cost and tokens up to and including this answer. The lists stay empty, as clients of every release get them live. */
export function accumulateMetrics(
  before: LlmMetrics | undefined,
  answer: LlmAnswer,
  limits: { readonly maxBudgetUsd: number | undefined; readonly contextWindow: number | undefined },
): LlmMetrics {
  const tokens = before?.accumulated_token_usage;
  const { usage } = answer;
  const unpriced = (before?.unpriced_tokens ?? 0) + (answer.isUnpriced ? usage.inputTokens + usage.outputTokens : 0);
  return {
    accumulated_cost: (before?.accumulated_cost ?? 0) + answer.costUsd,
    ...(unpriced > 0 && { unpriced_tokens: unpriced }),
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
