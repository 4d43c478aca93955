/** What an agent finds of earlier work: places in the logs of its own conversation, then of others in the same place, then of the rest. */
import { setImmediate } from 'node:timers/promises';
import { excerptAround, searchedWords, type EventLog, type PastHit, type PastHits, type SearchPast } from '@tendon/core';
import { isAction, isObservation, type Event } from '@tendon/protocol';
import { isFoundBy } from '../conversations/conversation-access.ts';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { Logger } from '../platform/logger.ts';
import type { EventSearch } from './event-search.ts';

const MAX_HITS = 10;
const MAX_HITS_EACH = 3;
const MAX_HITS_FOR_A_PERSON = 30;
/** The most recently begun. */
const MAX_CONVERSATIONS = 300;
/** The rest is not looked at. */
const SEARCH_MS = 5_000;
const PAGE = 200;
const MAX_TITLE = 80;
/** Begun by what others send, who read what comes of it; or an attempt at a task, which must not know of others at the same one. */
const KNOWS_ITSELF_ALONE: ReadonlySet<string> = new Set(['mention', 'webhook', 'eval']);

export interface PastParts {
  readonly conversations: Pick<Conversations, 'list' | 'log'>;
  readonly eventSearch: Pick<EventSearch, 'parts'>;
  readonly logger: Pick<Logger, 'warn'>;
}

export function searchPast(own: StoredConversation, parts: PastParts): SearchPast {
  return async (query, { signal }) => {
    const words = searchedWords(query);
    if (words.length === 0) return { hits: [], isPartial: false };
    const listed = async () =>
      KNOWS_ITSELF_ALONE.has(own.trigger)
        ? []
        : await parts.conversations.list({ limit: MAX_CONVERSATIONS, isMeant: (other) => isFoundBy(own, other) });
    return search(words, { listed, inOrder: (others) => inOrder(own, others), each: MAX_HITS_EACH, all: MAX_HITS }, { parts, signal });
  };
}

/** For a person: the newest place in each conversation, the most recently begun first. */
export function searchAll(
  query: string,
  sought: { readonly parts: PastParts; readonly signal: AbortSignal; readonly by: Caller },
): Promise<PastHits> {
  const words = searchedWords(query);
  if (words.length === 0) return Promise.resolve({ hits: [], isPartial: false });
  const listed = () => sought.parts.conversations.list({ limit: MAX_CONVERSATIONS, by: sought.by });
  return search(words, { listed, inOrder: (others) => others, each: 1, all: MAX_HITS_FOR_A_PERSON }, sought);
}

interface Where {
  readonly listed: () => Promise<readonly StoredConversation[]>;
  readonly inOrder: (listed: readonly StoredConversation[]) => readonly StoredConversation[];
  /** Hits of one conversation, and of all. */
  readonly each: number;
  readonly all: number;
}

async function search(
  words: readonly string[],
  { listed, inOrder: ordered, each, all }: Where,
  { parts, signal }: { readonly parts: PastParts; readonly signal: AbortSignal },
): Promise<PastHits> {
  const { conversations, eventSearch, logger } = parts;
  const hits: PastHit[] = [];
  const within = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_MS)]);
  try {
    const records = await listed();
    for (const record of ordered(records)) {
      if (hits.length >= all || within.aborted) break;
      const log = await conversations.log(record.id);
      if (log) hits.push(...(await hitsIn(record, log, { words, eventSearch, within, each })));
    }
    const isPartial = hits.length < all && (within.aborted || records.length === MAX_CONVERSATIONS);
    return { hits: hits.slice(0, all), isPartial };
  } catch (cause) {
    logger.warn({ err: cause }, 'earlier conversations could not be searched');
    return { hits, isPartial: true };
  }
}

/** What another agent did as a part of the work stands in the report to the one that asked for it. */
function inOrder(own: StoredConversation, listed: readonly StoredConversation[]): readonly StoredConversation[] {
  const others = listed.filter(({ id, delegated_by: by }) => id !== own.id && !by);
  const isNear = (other: StoredConversation): boolean =>
    other.workspace === own.workspace || (own.selected_repository !== null && isSameRepository(other, own));
  return [own, ...others.filter(isNear), ...others.filter((other) => !isNear(other))];
}

function isSameRepository(a: StoredConversation, b: StoredConversation): boolean {
  return a.selected_repository === b.selected_repository && a.git_provider === b.git_provider;
}

interface Sought extends Pick<PastParts, 'eventSearch'> {
  readonly words: readonly string[];
  readonly within: AbortSignal;
  readonly each: number;
}

/** The newest first. */
async function hitsIn(
  record: StoredConversation,
  log: EventLog,
  { words, eventSearch, within, each }: Sought,
): Promise<readonly PastHit[]> {
  // The index knows one text: the longest word is the rarest, as far as is known.
  const longest = words.reduce((a, b) => (b.length > a.length ? b : a));
  const hits: PastHit[] = [];
  for (const part of (await eventSearch.parts(log, longest, { from: 0, to: log.nextId })).toReversed()) {
    for (let to = part.to; to > part.from && hits.length < each && !within.aborted; await setImmediate()) {
      const events = await log.read({ from: part.from, to, limit: PAGE, reverse: true });
      if (events.length === 0) break;
      for (const event of events) if (hits.length < each) hits.push(...hitOf(event, record, words));
      to = events.at(-1)!.id;
    }
  }
  return hits;
}

function hitOf(event: Event, { id, title }: StoredConversation, words: readonly string[]): readonly PastHit[] {
  const found = wordsOf(event);
  const lower = found?.text.toLowerCase() ?? '';
  if (!found || !words.every((word) => lower.includes(word))) return [];
  const excerpt = excerptAround(found.text, lower.indexOf(words[0]!));
  return [
    { conversationId: id, title: title.slice(0, MAX_TITLE), eventId: event.id, timestamp: event.timestamp, from: found.from, excerpt },
  ];
}

/** Not what was recalled before, which would be found again and again, and nothing that is hidden. */
function wordsOf(event: Event): { readonly from: string; readonly text: string } | undefined {
  if (isObservation(event)) {
    if (event.observation === 'recall' || (event.extras as { hidden?: unknown }).hidden === true) return undefined;
    return { from: `result of ${event.observation}`, text: event.content };
  }
  if (!isAction(event)) return undefined;
  if (event.action === 'message') return { from: event.source === 'user' ? 'the user' : 'the agent', text: event.args.content };
  if (event.action === 'finish') return { from: 'the agent’s report', text: event.args.final_thought };
  if (event.action === 'run' && event.args.hidden !== true) return { from: 'command', text: event.args.command };
  if (event.action === 'run_ipython') return { from: 'cell', text: event.args.code };
  return undefined;
}
