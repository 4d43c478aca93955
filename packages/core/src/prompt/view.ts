/**
 * What the model is shown of a conversation. The view owns its entries; the log is the only thing they come from.
 *
 * Invariants
 * V1  Every call has exactly one result, right after the answer that made it, in the order of the calls; no result stands alone.
 * V2  A call whose result the log does not hold (yet) is answered by a synthetic one.
 * V3  The user's messages are never lost, nor hidden by a condensation; long ones become an excerpt and the path of a file.
 * V4  Adding an event changes nothing before `settled`, but for a condensation.
 * V5  A condensation removes what it forgets from every structure here: the view holds only what the model is shown.
 * V6  A view restored from `outline` makes the same later requests, without the earlier events.
 */
import { isAction, isObservation, isUnknown, type Action, type Event, type Observation, type ToolCallMetadata } from '@tendon/protocol';
import type { Agent } from '../agents/agent.ts';
import type { LlmMessage } from '../llm/llm-provider.ts';
import { assemble } from './assemble.ts';
import { condense } from './condense.ts';
import type { CallEntry, Entry, TextEntry, ViewContent } from './entry.ts';
import { callsOf, resultOf, say, textOf } from './make-entries.ts';
import { maxMessageChars, WORKSPACE } from './excerpt.ts';
import { outlineOf, type ViewOutline } from './view-outline.ts';
import { createWireIds } from './wire-id.ts';

/** A message of the user that is shown in part, and the file of the workspace that is said to hold all of it. */
export interface Excerpt {
  readonly eventId: number;
  readonly file: string;
}

export interface ProjectedView {
  readonly messages: readonly LlmMessage[];
  /** So many messages at the front stay as they are whatever is appended to the log. */
  readonly settled: number;
  readonly excerpts: readonly Excerpt[];
}

export interface View {
  /** Id of the next event to add; others are ignored. */
  readonly nextId: number;
  /** The outline of the view after the last condensation, from which it can be restored without the events before that. */
  readonly outline: ViewOutline;
  add(event: Event): void;
  /** `maxMessageChars`: of a message of the user; default: for a model whose window is not known. */
  project(options?: { readonly maxMessageChars?: number }): ProjectedView;
}

const NOTHING: ViewContent = Object.freeze({ nextId: 0, system: undefined, entries: Object.freeze([]), open: undefined });

/** A legal request for every prefix of every log. `add` is total. `content` is taken over. */
export function createView(agent: Agent, content: ViewContent = NOTHING): View {
  let { nextId, system, open } = content;
  let entries: Entry[] = [...content.entries];
  let outline = outlineOf(content);
  let callOf: Map<number, CallEntry>;
  let wireIds: (id: string) => string;
  index();

  /** By id; exactly the calls in the entries. */
  function index(): void {
    const calls = entries.flatMap((entry) => (entry.type === 'calls' ? entry.calls : []));
    callOf = new Map(calls.flatMap((call) => call.eventIds.map((id) => [id, call])));
    wireIds = createWireIds(calls.map(({ call }) => call.id));
  }

  function addText(entry: TextEntry | undefined): void {
    if (!entry) return;
    if (entry.role === 'assistant') open = undefined;
    entries.push(entry);
  }

  function bind(event: Action | Observation, metadata: ToolCallMetadata): CallEntry {
    const known = open?.calls.find(({ id }) => id === metadata.tool_call_id);
    if (open && known && open.key === metadata.model_response.id && !known.result) {
      known.eventIds.push(event.id);
      callOf.set(event.id, known);
      return known;
    }
    open = callsOf(event, metadata, wireIds);
    entries.push(open);
    const call = open.calls.find(({ id }) => id === metadata.tool_call_id)!;
    call.eventIds.push(event.id);
    callOf.set(event.id, call);
    return call;
  }

  function addResult(event: Observation): void {
    const metadata = event.tool_call_metadata;
    const call =
      event.cause !== undefined ? callOf.get(event.cause) : metadata && event.observation === 'error' ? bind(event, metadata) : undefined;
    if (call && !call.result && open?.calls.includes(call)) {
      call.result = resultOf(event);
      return;
    }
    // The call may be forgotten; its observation still names the tool.
    addText(textOf(event, call?.call.name ?? (event.cause === undefined ? undefined : metadata?.function_name)));
  }

  function forget(condensation: Action<'condensation'>): void {
    entries = condense(entries, condensation);
    if (open && !entries.includes(open)) open = undefined;
    index();
    outline = outlineOf({ nextId, system, entries, open });
  }

  function apply(event: Action | Observation): void {
    const saying = say(event);
    switch (saying.says) {
      case 'nothing':
        return;
      case 'system':
        if (entries.length === 0) system ??= { eventId: event.id, text: saying.text };
        return;
      case 'user':
      case 'assistant':
        return addText(textOf(event));
      case 'call': {
        const call = bind(event, event.tool_call_metadata!);
        call.result = resultOf(event) ?? call.result;
        return;
      }
      case 'result':
        return addResult(event as Observation);
    }
  }

  return {
    get nextId() {
      return nextId;
    },
    get outline() {
      return outline;
    },
    add(event) {
      if (event.id < nextId) return;
      nextId = event.id + 1;
      if (isUnknown(event)) return;
      if (isAction(event) && event.action === 'condensation') forget(event);
      else if (isAction(event) || isObservation(event)) apply(event);
    },
    project: (options) =>
      assemble(
        { system: system?.text ?? agent.systemPrompt({ workspace: WORKSPACE }), entries, open },
        options?.maxMessageChars ?? maxMessageChars(undefined),
      ),
  };
}
