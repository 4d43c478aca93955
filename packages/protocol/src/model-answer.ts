/**
 * The answer of a model that several events come from. The log holds it once, whole, on the first of them (EN205); the others hold a
 * reference: id, model and the place of their call, and no choices. Clients are sent the parts that they read (DL170, DL171). Pure and total:
 * an imported event may hold anything here, and older logs hold the whole answer on every event.
 */
import type { Event, ModelResponse, ToolCallMetadata } from './event.ts';

/** The part of the answer that a client is sent besides its id: only the call of this event, or all of it. */
export type AnswerExtent = 'own-call' | 'whole';

/** The same call on an event that is not the first one of its answer. */
export function withAnswerReference(metadata: ToolCallMetadata): ToolCallMetadata {
  if (!hasAnswer(metadata)) return metadata;
  const { id, model } = metadata.model_response;
  return { ...metadata, model_response: { id, model, choices: [], call_index: callIndex(metadata) } };
}

/** The place of the call in its answer; −1 where that is not known. */
export function callIndex(metadata: ToolCallMetadata | undefined): number {
  const response = metadata?.model_response;
  return response?.call_index ?? callsOf(response).findIndex(({ id }) => id === metadata?.tool_call_id);
}

/** The whole answer that the event holds. */
export function answerOf(event: Event): ModelResponse | undefined {
  const metadata = metadataOf(event);
  return metadata && hasAnswer(metadata) ? metadata.model_response : undefined;
}

/** The id of the answer that the event only refers to. */
export function answerReferredTo(event: Event): string | undefined {
  const metadata = metadataOf(event);
  return metadata && !hasAnswer(metadata) ? metadata.model_response?.id : undefined;
}

/** An event that refers to an answer, with the answer restored; `undefined` stands for an answer that the log no longer holds. */
export function withAnswer(event: Event, answer: ModelResponse | undefined, extent: AnswerExtent): Event {
  const metadata = metadataOf(event);
  if (!metadata) return event;
  const model_response = extent === 'whole' && answer ? answer : withOwnCall(metadata, answer);
  return { ...event, tool_call_metadata: { ...metadata, model_response } } as Event;
}

/** Without `usage`: frontends add it up over all events, and the first event has it. */
function withOwnCall(metadata: ToolCallMetadata, answer: ModelResponse | undefined): ModelResponse {
  const { choices: _none, call_index: _place, ...reference } = metadata.model_response;
  const { usage: _usage, choices, ...head } = answer ?? { choices: [] };
  const own = callsOf(answer).find(({ id }) => id === metadata.tool_call_id);
  const unknown = { id: metadata.tool_call_id, type: 'function', function: { name: metadata.function_name, arguments: '{}' } } as const;
  const message = { content: null, role: 'assistant', tool_calls: [own ?? unknown] } as const;
  return { ...head, ...reference, choices: [{ finish_reason: choices[0]?.finish_reason ?? 'tool_calls', index: 0, message }] };
}

function hasAnswer({ model_response }: ToolCallMetadata): boolean {
  return Array.isArray(model_response?.choices) && model_response.choices.length > 0;
}

function callsOf(response: ModelResponse | undefined): NonNullable<ModelResponse['choices'][0]['message']['tool_calls']> {
  const calls = response?.choices?.[0]?.message?.tool_calls;
  return Array.isArray(calls) ? calls : [];
}

function metadataOf(event: Event): ToolCallMetadata | undefined {
  return 'unknown' in event ? undefined : (event.tool_call_metadata ?? undefined);
}
