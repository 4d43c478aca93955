/**
 * Owns which parts of a log a search for words reads. It does not own what fits: whoever reads decides on the events themselves.
 *
 * Invariants
 * S1  What fits is in what is to be read, whatever of the log is in the index: none of it, a part, or all; what is not is read.
 * S2  A log is taken into the index behind the first search in it, a page at a time with pauses, once at the same time; the next search
 *     goes on with what was appended since. Nothing is indexed that nobody searches, and no append waits.
 * S3  An index that fails costs time and nothing else.
 */
import { StorageError, type Clock, type EventLog, type IdRange, type Storage } from '@tendon/core';
import type { Event, Frame } from '@tendon/protocol';
import { AnswerReader } from './answer-reader.ts';
import { storedFrame } from './stored-frame.ts';

export interface EventSearchOptions {
  readonly storage: Pick<Storage, 'events' | 'pages'>;
  readonly clock: Clock;
  /** Of what makes the texts: what another version has indexed is indexed anew. */
  readonly version: string;
  /** Told of an index that fails. */
  readonly onProblem: (cause: unknown) => void;
}

/** So many events more than the index knows are read as fast as they are looked up. */
const WORTH_INDEXING = 256;
/** A page of the index: what is read for one hit, and what one transaction takes in. */
const PAGE_EVENTS = 64;
const PAGE_CHARACTERS = 32 * 1024;
/** A page that is longer, because its one event is, is not indexed: it is read by every search. */
const LONGEST_PAGE = 256 * 1024;
/** Between two pages, so that clients have most of the time. */
const PAUSE_MS = 20;

export class EventSearch {
  readonly #options: EventSearchOptions;
  readonly #closing = new AbortController();
  readonly #indexing = new Map<string, Promise<void>>();

  constructor(options: EventSearchOptions) {
    this.#options = options;
  }

  /** The parts of `within` that are to be read for these words, which are in lower case; ascending and apart. */
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
    const indexing = this.#index(id)
      .catch((cause: unknown) => {
        const isGone = cause instanceof StorageError && cause.code === 'closed'; // the log, or all of the storage
        if (!isGone && !this.#closing.signal.aborted) this.#options.onProblem(cause);
      })
      .finally(() => this.#indexing.delete(id));
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

/** What words are looked for in: all that a client is shown of an event. */
export function searchedText(frame: Frame): string {
  return JSON.stringify(frame).toLowerCase();
}

/** Full pages; what is left at the end is not one yet. */
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

/** Cut to what is asked for; what touches is one. */
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
