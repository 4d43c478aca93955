import type { EventLog, LlmProvider, Runtimes } from '@tendon/core';
import type { Measures } from './measures.ts';
import type { TracedConversation, Tracing } from './tracing/tracing.ts';

/** Stands around the parts of one conversation and sees what passes; what it returns behaves as what it was given. */
export interface ConversationObserver {
  log(log: EventLog): EventLog;
  runtimes(runtimes: Runtimes): Runtimes;
  model(provider: LlmProvider): LlmProvider;
  /** What requests to models are sent with. */
  fetch(send: typeof fetch): typeof fetch;
}

/** Counts, and where the server traces makes spans as well. */
export function observeConversation(conversation: TracedConversation, measures: Measures, tracing?: Tracing): ConversationObserver {
  const traces = tracing?.of(conversation);
  const measured: ConversationObserver = {
    log: (log) => measures.log.measured(log),
    runtimes: (runtimes) => measures.sandboxes.measured(runtimes),
    model: (provider) => measures.models.measured(provider),
    fetch: (send) => send,
  };
  if (!traces) return measured;
  return {
    log: (log) => traces.log(measured.log(log)),
    runtimes: (runtimes) => traces.runtimes(measured.runtimes(runtimes)),
    model: (provider) => traces.model(measured.model(provider)),
    fetch: (send) => traces.fetch(send),
  };
}
