/** One call of the model, from the request to a complete answer. It appends nothing. */
import { catalogError } from '@tendon/protocol';
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
