/**
 * What the model is shown of a conversation. The view owns its entries; the log is the only thing they come from.
 *
 * Invariants
 * V1  Every call has exactly one result, right after the answer that made it, in the order of the calls; no result stands alone.
 * V2  A call whose result the log does not hold (yet) is answered by a synthetic one.
 * V3  What the user wrote is never lost, nor hidden by a condensation.
 * V4  Adding an event changes nothing before `settled`, but for a condensation.
 * V5  What a condensation forgets leaves every structure here: the view holds what the model is shown, and no more.
 */
import { isAction, isObservation, isUnknown, type Action, type Event, type Observation, type ToolCallMetadata } from '@tendon/protocol';
import type { Agent } from '../agents/agent.ts';
import type { LlmMessage, LlmToolCall } from '../llm/llm-provider.ts';
import { parseObject } from '../tools/parse-tool-call.ts';
import { assemble } from './assemble.ts';
import { condense } from './condense.ts';
import type { CallEntry, CallResult, CallsEntry, Entry, Saying } from './entry.ts';
import { sayAction } from './say-action.ts';
import { sayObservation } from './say-observation.ts';
import { createWireIds } from './wire-id.ts';

export interface ProjectedView {
  readonly messages: readonly LlmMessage[];
  /** So many messages at the front stay as they are whatever is appended to the log. */
  readonly settled: number;
}

export interface View {
  /** Id of the next event to add; others are ignored. */
  readonly nextId: number;
  add(event: Event): void;
  project(): ProjectedView;
}

export const WORKSPACE = '/workspace';

/** A legal request for every prefix of every log. `add` is total. */
export function createView(agent: Agent): View {
  let wireIds = createWireIds([]);
  let nextId = 0;
  let system: string | undefined;
  let entries: Entry[] = [];
  /** The last answer with calls, as long as nothing of the agent came after it: only it can still get results. */
  let open: CallsEntry | undefined;
  let callOf = new Map<number, CallEntry>();

  function addText(event: Event, role: 'user' | 'assistant', saying: Omit<Extract<Saying, { says: 'user' }>, 'says'>): void {
    if (saying.text === '' && !saying.imageUrls?.length) return;
    if (role === 'assistant') open = undefined;
    const { text, imageUrls, pinned = false } = saying;
    entries.push({ type: 'text', role, eventId: event.id, text: text || '[Image]', pinned, ...(imageUrls && { imageUrls }) });
  }

  function bind(event: Action | Observation, metadata: ToolCallMetadata): CallEntry {
    const known = open?.calls.find(({ id }) => id === metadata.tool_call_id);
    if (open && known && open.key === metadata.model_response.id && !known.result) {
      known.eventIds.push(event.id);
      callOf.set(event.id, known);
      return known;
    }
    open = openCalls(event, metadata, wireIds);
    entries.push(open);
    const call = open.calls.find(({ id }) => id === metadata.tool_call_id)!;
    call.eventIds.push(event.id);
    callOf.set(event.id, call);
    return call;
  }

  function addResult(event: Observation, saying: Extract<Saying, { says: 'result' }>): void {
    const metadata = event.tool_call_metadata;
    const call =
      event.cause !== undefined ? callOf.get(event.cause) : metadata && event.observation === 'error' ? bind(event, metadata) : undefined;
    if (call && !call.result && open?.calls.includes(call)) {
      call.result = toResult(event, saying);
      return;
    }
    // The call may be forgotten; its observation still names the tool.
    const late = call?.call.name ?? (event.cause === undefined ? undefined : metadata?.function_name);
    const head = late ? `[Late result of an earlier ${late} call]` : heading(event);
    addText(event, 'user', { text: `${head}\n${saying.text}`, imageUrls: saying.imageUrls });
  }

  function forget(condensation: Action<'condensation'>): void {
    entries = condense(entries, condensation);
    const kept = entries.flatMap((entry) => (entry.type === 'calls' ? entry.calls : []));
    callOf = new Map(kept.flatMap((call) => call.eventIds.map((id) => [id, call])));
    wireIds = createWireIds(kept.map(({ call }) => call.id));
    if (open && !entries.includes(open)) open = undefined;
  }

  function apply(event: Action | Observation): void {
    const saying = isAction(event) ? sayAction(event) : sayObservation(event as Observation);
    switch (saying.says) {
      case 'nothing':
        return;
      case 'system':
        if (entries.length === 0) system ??= saying.text;
        return;
      case 'user':
      case 'assistant':
        return addText(event, saying.says, saying);
      case 'call': {
        const call = bind(event, event.tool_call_metadata!);
        if (saying.result !== undefined) call.result = { eventId: event.id, text: saying.result };
        return;
      }
      case 'result':
        return addResult(event as Observation, saying);
    }
  }

  return {
    get nextId() {
      return nextId;
    },
    add(event) {
      if (event.id < nextId) return;
      nextId = event.id + 1;
      if (isUnknown(event)) return;
      if (isAction(event) && event.action === 'condensation') forget(event);
      else if (isAction(event) || isObservation(event)) apply(event);
    },
    project: () => assemble(system ?? agent.systemPrompt({ workspace: WORKSPACE }), entries, open),
  };
}

/** All calls of the answer at once, so that the request is the same whether or not their events follow. */
function openCalls(event: Event, metadata: ToolCallMetadata, wireIds: (id: string) => string): CallsEntry {
  const message = metadata.model_response.choices?.[0]?.message;
  const listed = (message?.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: args }));
  const own = { id: metadata.tool_call_id, name: metadata.function_name, arguments: isAction(event) ? JSON.stringify(event.args) : '{}' };
  const calls = listed.some(({ id }) => id === own.id) ? listed : [own];
  return {
    type: 'calls',
    key: metadata.model_response.id,
    text: message?.content ?? '',
    calls: calls.map((call) => ({ id: call.id, call: toLegalCall(call, wireIds(call.id)), eventIds: [], result: undefined })),
  };
}

/** Arguments that are no JSON object would be refused by providers; the model is shown what it wrote. */
function toLegalCall({ name, arguments: args }: LlmToolCall, id: string): LlmToolCall {
  const legal = parseObject(args) ? args.trim() || '{}' : JSON.stringify({ not_json: args.slice(0, 1000) });
  return { id, name: name || 'unknown', arguments: legal };
}

function toResult(event: Observation, { text, imageUrls }: Extract<Saying, { says: 'result' }>): CallResult {
  return { eventId: event.id, text, ...(imageUrls && { imageUrls }) };
}

/** An observation that answers no call: the user's own command, or a word of the engine. */
function heading(event: Observation): string {
  if (event.observation === 'run' && event.source === 'user') return `[The user ran in the terminal] $ ${event.extras.command}`;
  return event.source === 'user' ? '[The user did this themselves]' : '[Notice]';
}
