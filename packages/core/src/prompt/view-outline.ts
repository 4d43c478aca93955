/** A view in ids: what it shows is read from the log again, so an outline is small however much is shown. */
import { isAction, isObservation, type Action, type Event, type Observation } from '@tendon/protocol';
import { withoutCleared } from './compaction.ts';
import type { CallsEntry, Cleared, ViewEntry, TextEntry, ViewContent } from './entry.ts';
import { oldExcerpt } from './excerpt.ts';
import { callsOf, edited, resultOf, textOf } from './make-entries.ts';

export interface ViewOutline {
  /** Id of the next event to add. */
  readonly nextId: number;
  readonly systemId: number | undefined;
  readonly entries: readonly EntryOutline[];
  /** Which of the entries can still get results, −1 when none. */
  readonly open: number;
}

type EntryOutline = TextOutline | CallsOutline;

interface TextOutline {
  readonly eventId: number;
  readonly late?: string;
  readonly isExcerpt?: true;
  readonly editId?: number;
}

interface CallsOutline {
  readonly openedBy: number;
  readonly calls: readonly {
    readonly wireId: string;
    readonly eventIds: readonly number[];
    readonly resultId: number | undefined;
    readonly cleared?: Cleared;
  }[];
}

export function outlineOf({ nextId, system, entries, open }: ViewContent): ViewOutline {
  return { nextId, systemId: system?.eventId, entries: entries.map(entryOutline), open: open ? entries.indexOf(open) : -1 };
}

function entryOutline(entry: ViewEntry): EntryOutline {
  if (entry.type === 'text') {
    const { eventId, late, isExcerpt, editId } = entry;
    return { eventId, ...(late !== undefined && { late }), ...(isExcerpt && { isExcerpt }), ...(editId !== undefined && { editId }) };
  }
  const calls = entry.calls.map(({ call, eventIds, result }) => ({
    wireId: call.id,
    eventIds: [...eventIds],
    resultId: result?.eventId,
    ...(result?.cleared && { cleared: result.cleared }),
  }));
  return { openedBy: entry.openedBy, calls };
}

/** Every event that is needed to fill the outline. */
export function idsOf({ systemId, entries }: ViewOutline): readonly number[] {
  const ids = new Set(systemId === undefined ? [] : [systemId]);
  for (const entry of entries) {
    if ('eventId' in entry) for (const id of [entry.eventId, entry.editId ?? []].flat()) ids.add(id);
    else for (const id of [entry.openedBy, ...entry.calls.flatMap(({ resultId }) => resultId ?? [])]) ids.add(id);
  }
  return [...ids];
}

/** The view of which the outline was made. Throws when given other events: the caller must then read the whole log. */
export function filled(outline: ViewOutline, events: ReadonlyMap<number, Event>): ViewContent {
  const at = (id: number): Action | Observation => {
    const event = events.get(id);
    if (!event || !(isAction(event) || isObservation(event))) throw new Error(`event ${id} is not what the outline was made of`);
    return event;
  };
  const entries = outline.entries.map((entry) => ('eventId' in entry ? filledText(entry, at) : filledCalls(entry, at)));
  const open = entries[outline.open];
  if (outline.open >= 0 && open?.type !== 'calls') throw new Error('the open answer is none');
  const system = outline.systemId === undefined ? undefined : at(outline.systemId);
  if (system && !(isAction(system) && system.action === 'system')) throw new Error('the prompt is none');
  return {
    nextId: outline.nextId,
    system: system && { eventId: system.id, text: system.args.content },
    entries,
    open: open as CallsEntry | undefined,
  };
}

function filledText({ eventId, late, isExcerpt, editId }: TextOutline, at: (id: number) => Action | Observation): TextEntry {
  const made = textOf(at(eventId), late);
  if (!made) throw new Error(`event ${eventId} says nothing`);
  const edit = editId === undefined ? undefined : at(editId);
  if (edit && !(isAction(edit) && edit.action === 'condensation')) throw new Error(`event ${editId} edits nothing`);
  const entry = edit ? edited(made, edit) : made;
  return isExcerpt ? oldExcerpt(entry) : entry;
}

function filledCalls({ openedBy, calls }: CallsOutline, at: (id: number) => Action | Observation): CallsEntry {
  const opener = at(openedBy);
  if (!opener.tool_call_metadata) throw new Error(`event ${openedBy} is no call`);
  const wireIds = calls.map(({ wireId }) => wireId);
  const entry = callsOf(opener, opener.tool_call_metadata, () => wireIds.shift() ?? '');
  if (entry.calls.length !== calls.length) throw new Error(`event ${openedBy} has another answer`);
  for (const [index, { eventIds, resultId, cleared }] of calls.entries()) {
    entry.calls[index]!.eventIds.push(...eventIds);
    const result = resultId === undefined ? undefined : resultOf(at(resultId));
    entry.calls[index]!.result = result && cleared ? withoutCleared(result, cleared) : result;
  }
  return entry;
}
