import { messageOf } from '../codec.ts';
import { isAction, type Action, type Event, type EventSource, type Observation, type UnknownEvent } from '../event.ts';
import type { Frame } from './dialect.ts';

/** What a dialect may say differently from the stored event. */
export interface Overrides {
  readonly message?: string;
  readonly source?: EventSource;
  readonly timestamp?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly content?: string;
  readonly extras?: Readonly<Record<string, unknown>>;
  readonly success?: boolean;
}

/** An event with its keys in the order of 0.62's serializer; absent, not null, when unset. `executor` and the metadata of `reasoning` stay inside. */
export function wireFrame(event: Action | Observation, overrides: Overrides = {}): Frame {
  return {
    id: event.id,
    timestamp: overrides.timestamp ?? event.timestamp,
    source: overrides.source ?? event.source,
    message: overrides.message ?? messageOf(event),
    ...(event.cause !== undefined && { cause: event.cause }),
    ...(event.author !== undefined && { author: event.author }),
    ...(isAction(event) ? { action: event.action } : { observation: event.observation }),
    ...(event.tool_call_metadata !== undefined && { tool_call_metadata: event.tool_call_metadata }),
    ...reasoningText(event),
    ...(event.llm_metrics !== undefined && { llm_metrics: reducedMetrics(event.llm_metrics) }),
    ...(isAction(event) ? actionBody(event, overrides) : observationBody(event, overrides)),
  };
}

function actionBody(event: Action, overrides: Overrides): Frame {
  const { timeout, client_id, confirmation_reason } = event;
  return {
    args: overrides.args ?? event.args,
    ...(timeout !== undefined && { timeout }),
    ...(client_id !== undefined && { client_id }),
    ...(confirmation_reason !== undefined && { confirmation_reason }),
  };
}

function observationBody(event: Observation, overrides: Overrides): Frame {
  const success = overrides.success ?? event.success;
  return {
    content: overrides.content ?? event.content,
    extras: overrides.extras ?? event.extras,
    ...(success !== undefined && { success }),
  };
}

/** The part of an event's reasoning that is shown. */
export function reasoningText({ reasoning }: Event): Frame {
  const text = reasoning?.parts
    .map((part) => part.text)
    .filter((part) => part.trim() !== '')
    .join('\n\n');
  return text ? { reasoning_content: text } : {};
}

/** The wire has the sums only; the lists grow with the conversation and are empty there. */
function reducedMetrics(metrics: unknown): unknown {
  if (typeof metrics !== 'object' || metrics === null) return metrics;
  return { ...metrics, costs: [], response_latencies: [], token_usages: [] };
}

/** An unknown kind as it came, with its meta fields first. */
export function unknownFrame(event: UnknownEvent): Frame {
  const { executor: _inside, reasoning: _opaque, ...raw } = event.raw;
  return { id: event.id, timestamp: event.timestamp, source: event.source, ...raw };
}
