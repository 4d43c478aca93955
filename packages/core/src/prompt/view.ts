/**
 * What the model is shown of a conversation. The view owns its entries; the log is the only thing they come from.
 *
 * Invariants
 * VI1  Every call has exactly one result, right after the answer that made it, in the order of the calls; no result stands alone.
 * VI2  A call whose result the log does not hold (yet) is answered by a synthetic one.
 * VI3  The user's messages are never lost, nor hidden by a condensation; long ones become an excerpt and the path of a file.
 * VI4  Adding an event changes nothing before `settled`, but for a condensation and a restored conversation.
 * VI5  A condensation removes what it forgets from every structure here: the view holds only what the model is shown.
 *      A restored conversation does the same to everything from a point on, the user's messages too, but for the summary of a condensation.
 * VI6  A view restored from `outline` makes the same later requests, without the earlier events.
 * VI7  A condensation that is undone is never applied: a view that has applied it cannot take it back, and its owner makes another.
 */
import { isAction, isObservation, isUnknown, type Action, type Event, type Observation, type ToolCallMetadata } from '@tendon/protocol';
import type { Agent } from '../agents/agent.ts';
import { Assembly, type ProjectedView } from './assemble.ts';
import { cleared } from './compaction.ts';
import type { CallEntry, CallsEntry, ViewEntry, TextEntry, ViewContent } from './entry.ts';
import { callsOf, edited, resultOf, say, summaryOf, textOf } from './make-entries.ts';
import { maxMessageChars, oldExcerpt, WORKSPACE } from './excerpt.ts';
import { outlineOf, type ViewOutline } from './view-outline.ts';

const NOTHING: ViewContent = Object.freeze({ nextId: 0, system: undefined, entries: Object.freeze([]), open: undefined });

/** A legal request for every prefix of every log. */
export class View {
  readonly #agent: Agent;
  #nextId: number;
  #system: ViewContent['system'];
  #entries: ViewEntry[];
  /** The answer whose calls may still get results. */
  #open: ViewContent['open'];
  #outline: ViewOutline;
  /** By id of the event; exactly the calls in the entries. */
  #callOf: Map<number, CallEntry>;
  #wireIds: (id: string) => string;
  /** New after each condensation and restore: nothing else changes an entry before the open one. */
  #assembly: Assembly | undefined;
  readonly #undone: ReadonlySet<number>;

  /** `content` is taken over; `undone` are the condensations that do not count. */
  constructor(agent: Agent, content: ViewContent = NOTHING, undone: readonly number[] = []) {
    this.#agent = agent;
    this.#undone = new Set(undone);
    this.#nextId = content.nextId;
    this.#system = content.system;
    this.#entries = [...content.entries];
    this.#open = content.open;
    this.#outline = outlineOf(content);
    ({ callOf: this.#callOf, wireIds: this.#wireIds } = indexOf(this.#entries));
  }

  /** Id of the next event to add; others are ignored. */
  get nextId(): number {
    return this.#nextId;
  }

  /** The outline of the view after the last condensation, from which it can be restored without the events before that. */
  get outline(): ViewOutline {
    return this.#outline;
  }

  /** Total. */
  add(event: Event): void {
    if (event.id < this.#nextId) return;
    this.#nextId = event.id + 1;
    if (isUnknown(event)) return;
    if (isAction(event) && event.action === 'condensation') this.#forget(event);
    else if (isRestored(event)) this.#rewind(event.extras.from);
    else if (isAction(event) || isObservation(event)) this.#apply(event);
  }

  /** What is shown, for those who decide how much of it is too much. */
  get entries(): readonly ViewEntry[] {
    return this.#entries;
  }

  /** `maxMessageChars`: of a message of the user; default: for a model whose window is not known. `agent`: default the first. */
  project(options?: { readonly maxMessageChars?: number; readonly agent?: Agent }): ProjectedView {
    const agent = options?.agent ?? this.#agent;
    const introduced = agent.replaces ? undefined : this.#system?.text;
    const system = introduced ?? agent.systemPrompt({ workspace: WORKSPACE });
    const maxMessage = options?.maxMessageChars ?? maxMessageChars(undefined);
    if (this.#assembly?.maxMessage !== maxMessage) this.#assembly = new Assembly(maxMessage);
    return this.#assembly.project({ system, entries: this.#entries, open: this.#open });
  }

  #apply(event: Action | Observation): void {
    const saying = say(event);
    switch (saying.says) {
      case 'nothing':
        return;
      case 'system':
        if (this.#entries.length === 0) this.#system ??= { eventId: event.id, text: saying.text };
        return;
      case 'user':
      case 'assistant':
        return this.#addText(textOf(event));
      case 'call': {
        const call = this.#bind(event, event.tool_call_metadata!);
        call.result = resultOf(event) ?? call.result;
        return;
      }
      case 'result':
        return this.#addResult(event as Observation);
    }
  }

  #addText(entry: TextEntry | undefined): void {
    if (!entry) return;
    if (entry.role === 'assistant') this.#open = undefined;
    this.#entries.push(entry);
  }

  #addResult(event: Observation): void {
    const metadata = event.tool_call_metadata;
    const call =
      event.cause !== undefined
        ? this.#callOf.get(event.cause)
        : metadata && event.observation === 'error'
          ? this.#bind(event, metadata)
          : undefined;
    if (call && !call.result && this.#open?.calls.includes(call)) {
      call.result = resultOf(event);
      return;
    }
    // The call may be forgotten; its observation still names the tool.
    this.#addText(textOf(event, call?.call.name ?? (event.cause === undefined ? undefined : metadata?.function_name)));
  }

  #bind(event: Action | Observation, metadata: ToolCallMetadata): CallEntry {
    const open = this.#open;
    const known = open?.calls.find(({ id }) => id === metadata.tool_call_id);
    if (open && known && open.key === metadata.model_response.id && !known.result) return this.#entered(known, event);
    const calls = callsOf(event, metadata, this.#wireIds);
    this.#open = calls;
    this.#entries.push(calls);
    return this.#entered(
      calls.calls.find(({ id }) => id === metadata.tool_call_id)!,
      event,
    );
  }

  #entered(call: CallEntry, { id }: Event): CallEntry {
    call.eventIds.push(id);
    this.#callOf.set(id, call);
    return call;
  }

  #rewind(from: number): void {
    this.#take(this.#entries.filter((entry) => isBefore(entry, from)));
  }

  #forget(condensation: Action<'condensation'>): void {
    const { undoes, edits } = condensation.args;
    if (undoes !== undefined || this.#undone.has(condensation.id)) return;
    if (edits !== undefined) this.#take(this.#entries.map((entry) => (isSummaryOf(entry, edits) ? edited(entry, condensation) : entry)));
    else this.#take(condense(this.#entries, condensation));
  }

  #take(entries: ViewEntry[]): void {
    this.#entries = entries;
    this.#assembly = undefined;
    const openedBy = this.#open?.openedBy;
    this.#open = this.#entries.find((entry) => entry.type === 'calls' && entry.openedBy === openedBy) as CallsEntry | undefined;
    ({ callOf: this.#callOf, wireIds: this.#wireIds } = indexOf(this.#entries));
    this.#outline = outlineOf({ nextId: this.#nextId, system: this.#system, entries: this.#entries, open: this.#open });
  }
}

function isRestored(event: Action | Observation): event is Observation<'restore_checkpoint'> {
  if (!isObservation(event) || event.observation !== 'restore_checkpoint') return false;
  return event.extras.what !== 'files' && event.extras.from >= 0;
}

/** The summary of a condensation stands for what was before it. An answer with several calls is shown as a whole or not at all. */
function isBefore(entry: ViewEntry, from: number): boolean {
  if (entry.type === 'text') return entry.eventId < from || entry.isSummary === true;
  return [entry.openedBy, ...entry.calls.flatMap(({ eventIds, result }) => [...eventIds, ...(result ? [result.eventId] : [])])].every(
    (id) => id < from,
  );
}

interface CallIndex {
  readonly callOf: Map<number, CallEntry>;
  readonly wireIds: (id: string) => string;
}

function indexOf(entries: readonly ViewEntry[]): CallIndex {
  const calls = entries.flatMap((entry) => (entry.type === 'calls' ? entry.calls : []));
  return {
    callOf: new Map(calls.flatMap((call) => call.eventIds.map((id) => [id, call]))),
    wireIds: createWireIds(calls.map(({ call }) => call.id)),
  };
}

function isSummaryOf(entry: ViewEntry, id: number): entry is TextEntry {
  return entry.type === 'text' && entry.isSummary === true && entry.eventId === id;
}

/**
 * What a condensation leaves of the entries: with `cleared_until` all of them, without old results. Else it leaves out what it forgets and
 * puts its summary where the first of it stood, in place of earlier summaries. The user's words stay; long messages become excerpts.
 */
export function condense(entries: readonly ViewEntry[], condensation: Action<'condensation'>): ViewEntry[] {
  const { cleared_until: until } = condensation.args;
  if (until !== undefined) return cleared(entries, until);
  const summary = summaryOf(condensation);
  const forgets = forgotten(condensation);
  const replaces = summary !== undefined && condensation.args.forgotten_events_start_id === 0;
  const isGone = (entry: ViewEntry): boolean =>
    isForgotten(entry, forgets) || (replaces && entry.type === 'text' && entry.isSummary === true);
  const retained = entries.filter((entry) => !isGone(entry)).map((entry) => (entry.type === 'text' ? oldExcerpt(entry) : entry));
  if (!summary) return retained;
  const first = entries.findIndex(isGone);
  retained.splice(first === -1 ? retained.length : first, 0, summary);
  return retained;
}

function forgotten({ args }: Action<'condensation'>): (id: number) => boolean {
  const ids = new Set(args.forgotten_event_ids ?? []);
  const { forgotten_events_start_id: start, forgotten_events_end_id: end } = args;
  return (id) => ids.has(id) || (start !== null && end !== null && id >= start && id <= end);
}

/** An answer with several calls is forgotten as a whole or not at all: half of it would be no legal request. */
function isForgotten(entry: ViewEntry, forgets: (id: number) => boolean): boolean {
  if (entry.type === 'text') return !entry.pinned && forgets(entry.eventId);
  const ids = entry.calls.flatMap(({ eventIds }) => eventIds);
  return ids.length > 0 && ids.every(forgets);
}

const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Gives every call of a request an id that is unique in it and that every provider takes. Some servers name the first call of each
 * answer alike, and one provider's ids can be illegal for another. `taken` are in the request already.
 */
function createWireIds(taken: readonly string[]): (id: string) => string {
  const used = new Set(taken);
  /** The next number to try, so that a thousand calls of one name do not cost a million look-ups. */
  const counters = new Map<string, number>();
  return (id) => {
    const legal = LEGAL.test(id) ? id : `call_${id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 40)}`;
    let unique = legal;
    let n = counters.get(legal) ?? 2;
    for (; used.has(unique); n++) unique = `${legal.slice(0, 48)}_${n}`;
    counters.set(legal, n);
    used.add(unique);
    return unique;
  };
}
