import { isAction } from '@tendon/protocol';
import type { EventLog } from '../log/event-log.ts';

const MAX_EVENTS = 5_000;
const PAGE = 500;
const MAX_HITS = 10;
const AROUND = 200;
/** Shorter words are in every message. */
const MIN_WORD = 3;
const MAX_WORDS = 20;

/** What of a query is looked for: each word once, in lower case. */
export function searchedWords(query: string): readonly string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu) ?? [];
  return [...new Set(words)].filter((word) => word.length >= MIN_WORD).slice(0, MAX_WORDS);
}

/** Places in the conversation's own messages where all words of the query are, the latest first: its author, and the text around. */
export async function searchMessages(log: EventLog, query: string): Promise<string[]> {
  const words = searchedWords(query);
  const hits: string[] = [];
  const oldest = Math.max(0, log.nextId - MAX_EVENTS);
  for (let to = log.nextId; words.length > 0 && to > oldest && hits.length < MAX_HITS; to -= PAGE) {
    const events = await log.read({ from: Math.max(oldest, to - PAGE), to });
    for (const event of events.toReversed()) {
      if (hits.length === MAX_HITS || !isAction(event) || event.action !== 'message') continue;
      const { content } = event.args;
      const lower = content.toLowerCase();
      if (words.every((word) => lower.includes(word)))
        hits.push(`[${event.id}] ${event.source}: ${excerptAround(content, lower.indexOf(words[0]!))}`);
    }
  }
  return hits;
}

/** On one line, with what stands before and after. */
export function excerptAround(content: string, at: number): string {
  const [from, to] = [Math.max(0, at - AROUND), at + AROUND];
  const text = content.slice(from, to).toWellFormed().replaceAll(/\s+/g, ' ').trim();
  return `${from > 0 ? '…' : ''}${text}${to < content.length ? '…' : ''}`;
}
