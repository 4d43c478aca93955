import { setImmediate } from 'node:timers/promises';
import type { EventLog, IdRange } from '@tendon/core';
import type { EventFilter, EventsPage, EventsQuery, Frame } from '@tendon/protocol';
import { AnswerReader } from './answer-reader.ts';
import { searchedText, storedFrame, type EventSearch } from './event-search.ts';

const PAGE = 200;

/** One page of the events that pass the filter. Reads the log in batches, from the requested end; for a search for words, the parts that `search` returns. */
export async function findEvents(log: EventLog, query: EventsQuery, search: Pick<EventSearch, 'parts'>): Promise<EventsPage> {
  const { start_id, end_id, limit, reverse } = query;
  const words = query.query?.toLowerCase();
  const within = { from: start_id, to: end_id === undefined ? log.nextId : Math.min(end_id + 1, log.nextId) };
  const parts = words ? await search.parts(log, words, within) : [within];
  const found: Frame[] = [];
  for (const part of reverse ? parts.toReversed() : parts) {
    if (found.length > limit) break;
    found.push(...(await findIn(part, log, query, limit + 1 - found.length)));
  }
  return { events: found.slice(0, limit), has_more: found.length > limit };
}

/** At least `wanted` of this part, if it has so many. */
async function findIn(part: IdRange, log: EventLog, query: EventsQuery, wanted: number): Promise<readonly Frame[]> {
  const passes = filterOf(query);
  const answers = new AnswerReader(log);
  const limit = isFiltered(query) ? PAGE : Math.min(PAGE, wanted);
  const found: Frame[] = [];
  for (let { from, to } = part; from < to && found.length < wanted; await setImmediate()) {
    const events = await log.read({ from, to, limit, reverse: query.reverse });
    if (events.length === 0) break;
    for (const event of events) found.push(...storedFrame(await answers.fill(event, 'own-call')).filter(passes));
    const last = events.at(-1)!.id;
    if (query.reverse) to = last;
    else from = last + 1;
  }
  return found;
}

function isFiltered(query: EventsQuery): boolean {
  const { start_id: _start, end_id: _end, limit: _limit, reverse: _reverse, ...filter } = query;
  return Object.values(filter).some((value) => value !== undefined && value !== null);
}

function filterOf({ event_type, ...filter }: EventFilter & Pick<EventsQuery, 'event_type'>): (frame: Frame) => boolean {
  const { exclude_hidden, query, source, start_date, end_date } = filter;
  const wanted = event_type ? [event_type] : filter.include_types;
  const words = query?.toLowerCase();
  const [since, until] = [start_date, end_date].map((date) => (date ? Date.parse(date) : undefined));
  return (frame) => {
    const at = Date.parse(String(frame.timestamp));
    if (source && String(frame.source).toLowerCase() !== source.toLowerCase()) return false;
    if (wanted?.length && !wanted.some((kind) => isOfKind(frame, kind))) return false;
    if (filter.exclude_types?.some((kind) => isOfKind(frame, kind))) return false;
    if (exclude_hidden && isHidden(frame)) return false;
    if ((since !== undefined && at < since) || (until !== undefined && at > until)) return false;
    return !words || searchedText(frame).includes(words);
  };
}

/** `run` is both the action and its observation, like `CmdRunAction` and `CmdRunObservation` are one of the two. */
function isOfKind({ action, observation }: Frame, kind: string): boolean {
  const name = kind.replace(/(Action|Observation)$/, '').toLowerCase();
  if (kind.endsWith('Action')) return flat(action) === (CLASSES[name] ?? name);
  if (kind.endsWith('Observation')) return flat(observation) === (CLASSES[name] ?? name);
  return action === kind || observation === kind;
}

/** Where the original's class is called otherwise than its kind. */
const CLASSES: Readonly<Record<string, string>> = {
  cmdrun: 'run',
  cmdoutput: 'run',
  filewrite: 'write',
  fileread: 'read',
  fileedit: 'edit',
  ipythonruncell: 'runipython',
  browseurl: 'browse',
  browseinteractive: 'browseinteractive',
  agentthink: 'think',
  agentfinish: 'finish',
  agentreject: 'reject',
  agentdelegate: 'delegate',
  agentstatechanged: 'agentstatechanged',
  changeagentstate: 'changeagentstate',
};

function flat(kind: unknown): string | undefined {
  return typeof kind === 'string' ? kind.replaceAll('_', '') : undefined;
}

function isHidden({ args, extras }: Frame): boolean {
  return [args, extras].some((part) => (part as { hidden?: unknown } | undefined)?.hidden === true);
}
