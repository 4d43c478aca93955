import type { EventLog } from '@tendon/core';
import type { EventFilter, EventsPage, EventsQuery, Frame } from '@tendon/protocol';
import { AnswerReader } from './answer-reader.ts';
import { storedFrame } from './stored-frame.ts';

const PAGE = 200;

/** One page of what passes the filter. The log is read piece by piece, from the asked-for end. */
export async function findEvents(log: EventLog, query: EventsQuery): Promise<EventsPage> {
  const { start_id, end_id, limit, reverse } = query;
  const passes = filterOf(query);
  const answers = new AnswerReader(log);
  const found: Frame[] = [];
  let from = start_id;
  let to = end_id === undefined ? log.nextId : Math.min(end_id + 1, log.nextId);
  while (from < to && found.length <= limit) {
    const events = await log.read({ from, to, limit: Math.min(PAGE, isFiltered(query) ? PAGE : limit + 1), reverse });
    if (events.length === 0) break;
    for (const event of events) found.push(...storedFrame(await answers.fill(event, 'own-call')).filter(passes));
    const last = events.at(-1)!.id;
    if (reverse) to = last;
    else from = last + 1;
  }
  return { events: found.slice(0, limit), has_more: found.length > limit };
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
    return !words || JSON.stringify(frame).toLowerCase().includes(words);
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
