/** What an agent finds of earlier work: places in the logs of its own conversation, then of others in the same place, then of the rest. */
import { setImmediate } from 'node:timers/promises';
import { excerptAround, searchedWords, type EventLog, type PastHit, type PastHits, type SearchPast } from '@tendon/core';
import { isAction, isObservation, type Event } from '@tendon/protocol';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { Logger } from '../platform/logger.ts';
import type { EventSearch } from './event-search.ts';

const MAX_HITS = 10;
const MAX_HITS_EACH = 3;
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

export function searchPast(own: StoredConversation, { conversations, eventSearch, logger }: PastParts): SearchPast {
  return async (query, { signal }) => {
    const words = searchedWords(query);
    const hits: PastHit[] = [];
    if (words.length === 0) return { hits, isPartial: false };
    const within = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_MS)]);
    try {
      const listed = KNOWS_ITSELF_ALONE.has(own.trigger) ? [] : await conversations.list({ limit: MAX_CONVERSATIONS });
      for (const record of inOrder(own, listed)) {
        if (hits.length >= MAX_HITS || within.aborted) break;
        const log = await conversations.log(record.id);
        if (log) hits.push(...(await hitsIn(record, log, { words, eventSearch, within })));
      }
      const isPartial = hits.length < MAX_HITS && (within.aborted || listed.length === MAX_CONVERSATIONS);
      return { hits: hits.slice(0, MAX_HITS), isPartial } satisfies PastHits;
    } catch (cause) {
      logger.warn({ err: cause, conversation: own.id }, 'earlier conversations could not be searched');
      return { hits, isPartial: true };
    }
  };
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
}

/** The newest first. */
async function hitsIn(record: StoredConversation, log: EventLog, { words, eventSearch, within }: Sought): Promise<readonly PastHit[]> {
  // The index knows one text: the longest word is the rarest, as far as is known.
  const longest = words.reduce((a, b) => (b.length > a.length ? b : a));
  const hits: PastHit[] = [];
  for (const part of (await eventSearch.parts(log, longest, { from: 0, to: log.nextId })).toReversed()) {
    for (let to = part.to; to > part.from && hits.length < MAX_HITS_EACH && !within.aborted; await setImmediate()) {
      const events = await log.read({ from: part.from, to, limit: PAGE, reverse: true });
      if (events.length === 0) break;
      for (const event of events) if (hits.length < MAX_HITS_EACH) hits.push(...hitOf(event, record, words));
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
