/**
 * What endpoints have shown that they can do. Owns what was learned, for all conversations of a server and for the next server of the same
 * home; does not own how it is found out.
 *
 * Invariants
 * MT1  One model at one address is one entry: another server may offer it with more or less.
 * MT2  What was learned later counts.
 * MT3  An entry is forgotten a week after it was learned: endpoints are upgraded, and what is asked again costs one request.
 * MT4  An address is stored as a digest: it may hold a key.
 */
import { Mutex } from '@tendon/protocol/async';
import type { Clock } from '../async/clock.ts';
import type { RecordStore } from '../storage/storage.ts';

export interface LearnedTraits {
  /** Takes tools; undefined while nobody knows. */
  readonly tools?: boolean;
  /** Calls several tools in one answer. */
  readonly parallelCalls?: boolean;
  /** Sees pictures. */
  readonly images?: boolean;
  /** Sends an answer in pieces. */
  readonly streaming?: boolean;
  /** Tokens, as the endpoint itself says. */
  readonly contextWindow?: number;
}

/** The entry of one model. */
export interface ModelTraits {
  readonly known: LearnedTraits;
  learn(traits: LearnedTraits): void;
}

interface Entry {
  readonly traits: LearnedTraits;
  /** Milliseconds. */
  readonly learnedAt: number;
}

interface TraitsStore {
  readonly records: RecordStore;
  readonly clock: Pick<Clock, 'now'>;
  /** One way, and short. */
  readonly digest: (text: string) => string;
  /** What is not stored is learned again. */
  readonly onProblem: (cause: unknown) => void;
}

const COLLECTION = 'model-traits';
/** More than a server meets; beyond it the oldest is learned anew. */
const MAX_ENTRIES = 1_000;
const MAX_AGE_MS = 7 * 86_400_000;
const NOTHING: LearnedTraits = {};

export class ModelTraitsBook {
  readonly #entries: Map<string, Entry>;
  readonly #store: TraitsStore | undefined;
  readonly #writing = new Mutex();

  /** Without a store, what is learned is lost with the process. */
  constructor(entries: ReadonlyMap<string, Entry> = new Map(), store?: TraitsStore) {
    this.#entries = new Map(entries);
    this.#store = store;
  }

  static async open(store: TraitsStore): Promise<ModelTraitsBook> {
    const stored = await store.records.list<Entry>(COLLECTION, { limit: MAX_ENTRIES });
    const oldest = store.clock.now().getTime() - MAX_AGE_MS;
    const isStale = ({ value }: (typeof stored)[number]): boolean => value.learnedAt < oldest;
    const book = new ModelTraitsBook(new Map(stored.filter((one) => !isStale(one)).map(({ id, value }) => [id, value])), store);
    for (const { id } of stored.filter(isStale)) book.#write(() => store.records.delete(COLLECTION, id));
    return book;
  }

  of({ baseUrl, modelId }: { readonly baseUrl: string; readonly modelId: string }): ModelTraits {
    const place = `${baseUrl} ${modelId}`;
    const id = this.#store?.digest(place) ?? place;
    const known = (): LearnedTraits => this.#entries.get(id)?.traits ?? NOTHING;
    return {
      get known() {
        return known();
      },
      learn: (traits) => this.#learn(id, known(), traits),
    };
  }

  #learn(id: string, before: LearnedTraits, traits: LearnedTraits): void {
    const learned = { ...before, ...traits };
    // Each answer with calls shows the same.
    if (Object.entries(learned).every(([name, value]) => before[name as keyof LearnedTraits] === value)) return;
    const store = this.#store;
    const entry = { traits: learned, learnedAt: store?.clock.now().getTime() ?? 0 };
    const oldest = !this.#entries.has(id) && this.#entries.size >= MAX_ENTRIES ? this.#entries.keys().next().value : undefined;
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(id, entry);
    if (!store) return;
    if (oldest !== undefined) this.#write(() => store.records.delete(COLLECTION, oldest));
    this.#write(() => store.records.put(COLLECTION, { id, sort: '', value: entry }));
  }

  /** In the order in which it was learned, and behind the answer that showed it. */
  #write(write: () => Promise<unknown>): void {
    this.#writing.run(write).catch((cause: unknown) => this.#store?.onProblem(cause));
  }

  /** Resolves when all that was learned is stored. */
  close(): Promise<void> {
    return this.#writing.run(() => Promise.resolve());
  }
}
