/**
 * Owns which parts of a log a search for words reads. It does not own what matches: the caller decides on the events themselves.
 *
 * Invariants
 * EVN1  Every matching event is in the parts to read, whether none, a part or all of the log is indexed; unindexed parts are always read.
 * EVN2  The first search in a log indexes it in the background, a page at a time with pauses, at most once concurrently; the next search
 *       continues with the events appended since. A log without searches is not indexed, and no append waits. A search of all logs
 *       begins no more than two at once: the others follow.
 * EVN3  A failing index only makes searches slower.
 */
import { StorageError, type Clock, type EventLog, type IdRange, type Storage } from '@tendon/core';
import { openhandsV0, type Event, type Frame } from '@tendon/protocol';
import { AnswerReader } from './answer-reader.ts';

export interface EventSearchOptions {
  readonly storage: Pick<Storage, 'events' | 'pages'>;
  readonly clock: Clock;
  /** The version of the function that makes the texts: pages of another version are indexed anew. */
  readonly version: string;
  /** Called when the index fails. */
  readonly onProblem: (cause: unknown) => void;
}

/** Up to this many unindexed events are read as fast as they are looked up. */
const WORTH_INDEXING = 256;
/** A page of the index: the unit that is read for a hit, and that is indexed in one transaction. */
const PAGE_EVENTS = 64;
const PAGE_CHARACTERS = 32 * 1024;
/** A page with a longer text, of a single event, is not indexed: every search reads it. */
const LONGEST_PAGE = 256 * 1024;
/** Between two pages, so that clients have most of the time. */
const PAUSE_MS = 20;
/** Logs that are indexed at the same time. */
const AT_ONCE = 2;

export class EventSearch {
  readonly #options: EventSearchOptions;
  readonly #closing = new AbortController();
  readonly #indexing = new Map<string, Promise<void>>();
  /** Those that are indexed next, the first asked for first. */
  readonly #waiting = new Set<string>();

  constructor(options: EventSearchOptions) {
    this.#options = options;
  }

  /** The parts of `within` that may contain these words (in lower case), ascending and disjoint. */
  async parts(log: EventLog, words: string, within: IdRange): Promise<readonly IdRange[]> {
    try {
      const { pages } = this.#options.storage;
      const indexed = this.#indexed(log.conversationId);
      const to = await pages.indexedTo(indexed);
      if (log.nextId - to >= WORTH_INDEXING) this.#begin(log.conversationId);
      const found = to === 0 ? undefined : await pages.find(indexed, words);
      return found ? joined([...found, { from: to, to: Infinity }], within) : [within];
    } catch (cause) {
      this.#options.onProblem(cause);
      return [within];
    }
  }

  /** Resolves when nothing is being indexed. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#indexing.values());
  }

  #indexed(conversationId: string) {
    return { conversationId, version: this.#options.version };
  }

  #begin(id: string): void {
    if (this.#closing.signal.aborted || this.#indexing.has(id)) return;
    if (this.#indexing.size >= AT_ONCE) return void this.#waiting.add(id);
    this.#waiting.delete(id);
    const indexing = this.#index(id)
      .catch((cause: unknown) => {
        const isGone = cause instanceof StorageError && cause.code === 'closed'; // the log, or all of the storage
        if (!isGone && !this.#closing.signal.aborted) this.#options.onProblem(cause);
      })
      .finally(() => {
        this.#indexing.delete(id);
        const [next] = this.#waiting;
        if (next !== undefined) this.#begin(next);
      });
    this.#indexing.set(id, indexing);
  }

  async #index(id: string): Promise<void> {
    const { storage, clock } = this.#options;
    const { signal } = this.#closing;
    const indexed = this.#indexed(id);
    const log = await storage.events.open(id);
    const from = await storage.pages.indexedTo(indexed);
    if (from === 0) await storage.pages.clear(id);
    for await (const page of pagesOf(log, from)) {
      if (signal.aborted || !(await storage.pages.add(indexed, page))) return;
      await clock.sleep(PAUSE_MS, { signal });
    }
  }
}

/** The searchable text: everything that a client is sent of an event. */
export function searchedText(frame: Frame): string {
  return JSON.stringify(frame).toLowerCase();
}

/** Full pages only; the rest at the end is not one yet. */
async function* pagesOf(log: EventLog, start: number) {
  const answers = new AnswerReader(log);
  let from = start;
  let text = '';
  for (let at = start; at < log.nextId; at += PAGE_EVENTS) {
    for (const event of await log.read({ from: at, limit: PAGE_EVENTS })) {
      const added = textOf(await answers.fill(event, 'own-call'));
      if (event.id > from && (text.length + added.length > PAGE_CHARACTERS || event.id - from === PAGE_EVENTS)) {
        yield { from, to: event.id, text: text.length > LONGEST_PAGE ? undefined : text };
        from = event.id;
        text = '';
      }
      text += `${added}\n`;
    }
  }
}

function textOf(event: Event): string {
  return storedFrame(event).map(searchedText).join('\n');
}

/** Clipped to the requested range, with adjacent parts joined. */
function joined(ranges: readonly IdRange[], within: IdRange): readonly IdRange[] {
  const parts: IdRange[] = [];
  for (const range of ranges) {
    const from = Math.max(range.from, within.from);
    const to = Math.min(range.to, within.to);
    const last = parts.at(-1);
    if (from >= to) continue;
    if (last?.to === from) parts[parts.length - 1] = { from: last.from, to };
    else parts.push({ from, to });
  }
  return parts;
}

/** As the replay shows it, with what the replay leaves out. `null` kinds are not shown. */
export function storedFrame(event: Event): readonly Frame[] {
  const replayed = openhandsV0.encode(event, 'replay');
  return replayed.length > 0 ? replayed : openhandsV0.encode(event, 'live');
}
