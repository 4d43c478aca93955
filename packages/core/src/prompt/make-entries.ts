/** Entries from single events: pure, so that an entry made again from the log is the entry that was there. */
import { isAction, type Action, type Event, type Observation, type ToolCallMetadata } from '@tendon/protocol';
import type { LlmToolCall } from '../llm/llm-provider.ts';
import { parseObject } from '../tools/parse-tool-call.ts';
import type { CallResult, CallsEntry, Saying, TextEntry } from './entry.ts';
import { fileOf } from './excerpt.ts';
import { sayAction } from './say-action.ts';
import { sayObservation } from './say-observation.ts';

export function say(event: Action | Observation): Saying {
  return isAction(event) ? sayAction(event) : sayObservation(event as Observation);
}

/** The entry of an event outside an answer; nothing for a silent event. `late`: the tool whose answer is already closed or forgotten. */
export function textOf(event: Action | Observation, late?: string): TextEntry | undefined {
  if (isAction(event) && event.action === 'condensation') return summaryOf(event);
  const saying = say(event);
  if (saying.says === 'user') return toText(event, 'user', saying);
  if (saying.says === 'assistant') return toText(event, 'assistant', saying);
  if (saying.says !== 'result') return undefined;
  const head = late === undefined ? heading(event as Observation) : `[Late result of an earlier ${late} call]`;
  const entry = toText(event, 'user', { text: `${head}\n${saying.text}`, ...(saying.imageUrls && { imageUrls: saying.imageUrls }) });
  return entry && { ...entry, ...(late !== undefined && { late }) };
}

export function summaryOf({ id, args }: Action<'condensation'>): TextEntry | undefined {
  if (!args.summary) return undefined;
  return { type: 'text', role: 'user', eventId: id, text: `[Summary of what happened before]\n${args.summary}`, pinned: false };
}

/** All calls of the answer at once, so that the request is the same whether or not their events follow. */
export function callsOf(event: Event, metadata: ToolCallMetadata, wireIds: (id: string) => string): CallsEntry {
  const message = metadata.model_response.choices?.[0]?.message;
  const listed = (message?.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: args }));
  const own = { id: metadata.tool_call_id, name: metadata.function_name, arguments: isAction(event) ? JSON.stringify(event.args) : '{}' };
  const calls = listed.some(({ id }) => id === own.id) ? listed : [own];
  return {
    type: 'calls',
    openedBy: event.id,
    key: metadata.model_response.id,
    text: message?.content ?? '',
    calls: calls.map((call) => ({ id: call.id, call: toLegalCall(call, wireIds(call.id)), eventIds: [], result: undefined })),
  };
}

/** The result that an event gives to its call: an observation's, or that of an action that answers itself. */
export function resultOf(event: Action | Observation): CallResult | undefined {
  const saying = say(event);
  if (saying.says === 'call') return saying.result === undefined ? undefined : { eventId: event.id, text: saying.result };
  if (saying.says !== 'result') return undefined;
  return { eventId: event.id, text: saying.text, ...(saying.imageUrls && { imageUrls: saying.imageUrls }) };
}

type Words = Omit<Extract<Saying, { says: 'user' }>, 'says'>;

function toText(event: Event, role: 'user' | 'assistant', { text, imageUrls, pinned = false }: Words): TextEntry | undefined {
  if (text === '' && !imageUrls?.length) return undefined;
  const file = pinned ? fileOf(text) : undefined;
  return { type: 'text', role, eventId: event.id, text: text || '[Image]', pinned, ...(imageUrls && { imageUrls }), ...(file && { file }) };
}

/** Providers would refuse arguments that are not a JSON object; the model is shown the text that it wrote. */
function toLegalCall({ name, arguments: args }: LlmToolCall, id: string): LlmToolCall {
  const legal = parseObject(args) ? args.trim() || '{}' : JSON.stringify({ not_json: args.slice(0, 1000) });
  return { id, name: name || 'unknown', arguments: legal };
}

/** An observation that answers no call: the user's own command, or a word of the engine. */
function heading(event: Observation): string {
  if (event.observation === 'run' && event.source === 'user') return `[The user ran in the terminal] $ ${event.extras.command}`;
  return event.source === 'user' ? '[The user did this themselves]' : '[Notice]';
}
