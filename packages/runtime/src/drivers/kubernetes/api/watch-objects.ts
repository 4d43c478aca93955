import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from './api-error.ts';
import { WATCH_SECONDS, type ClusterObject, type Resources } from './resources.ts';

const AGAIN_MS = [100, 500, 2000, 10_000] as const;
/** Beyond the end that was asked for, a watch is silent for good: the connection is lost without a word. */
const SILENT_MS = (WATCH_SECONDS + 30) * 1000;
const GONE = 410;

/**
 * What is known of the objects of one kind that a selector matches: listed once, and watched from there. Owns one connection at a time, which keeps
 * no process alive.
 *
 * 1. What is known is never older than what was known before: a watch goes on at the version where the last one ended, and where the API server has
 *    forgotten that version (410) everything is listed anew, also what was deleted meanwhile.
 * 2. While the API server does not answer, what was last heard stays known; nothing is taken for deleted.
 */
export class WatchedObjects<T extends ClusterObject> {
  readonly #resources: Pick<Resources<T>, 'list' | 'watch'>;
  readonly #selector: string;
  readonly #objects = new Map<string, T>();
  readonly #waiting = new Set<() => void>();
  readonly #closing = new AbortController();
  #opening: Promise<void> | undefined;
  #version = '';

  constructor(resources: Pick<Resources<T>, 'list' | 'watch'>, selector: string) {
    this.#resources = resources;
    this.#selector = selector;
  }

  /** Resolves when they were listed once; rejects when that failed, and the next call tries again. */
  open(): Promise<void> {
    this.#opening ??= this.#list().then(() => void this.#keep());
    this.#opening.catch(() => (this.#opening = undefined));
    return this.#opening;
  }

  get(name: string): T | undefined {
    return this.#objects.get(name);
  }

  all(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** Asks now and after each change: resolves with what `find` returns once that is something, rejects with what it throws or the signal's reason. */
  async until<R>(find: () => R | undefined, signal: AbortSignal): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const look = (): void => {
      try {
        const found = find();
        if (found !== undefined) resolve(found);
      } catch (error) {
        reject(error);
      }
    };
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort);
    this.#waiting.add(look);
    (signal.aborted ? abort : look)();
    try {
      return await promise;
    } finally {
      this.#waiting.delete(look);
      signal.removeEventListener('abort', abort);
    }
  }

  /** @internal */
  close(): void {
    this.#closing.abort();
  }

  async #list(): Promise<void> {
    const { items, metadata } = await this.#resources.list(this.#selector, this.#closing.signal);
    this.#objects.clear();
    for (const item of items) this.#objects.set(item.metadata.name, item);
    this.#version = metadata.resourceVersion;
    this.#changed();
  }

  async #keep(): Promise<void> {
    for (let failures = 0, isKnown = true; !this.#closing.signal.aborted;) {
      try {
        if (!isKnown) await this.#list();
        isKnown = true;
        await this.#follow();
        failures = 0;
      } catch (error) {
        // One that goes on failing for another reason is listed anew too.
        isKnown = !(error instanceof ApiError && error.status === GONE) && failures < AGAIN_MS.length;
        const waitMs = AGAIN_MS[Math.min(failures, AGAIN_MS.length - 1)]!;
        failures += 1;
        await delay(waitMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {});
      }
    }
  }

  /** Resolves when the API server has ended it. */
  async #follow(): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(SILENT_MS)]);
    for await (const { type, object } of this.#resources.watch(this.#selector, this.#version, signal)) {
      if (type === 'ERROR') throw new ApiError(object.code ?? 500, object.message ?? 'the watch broke');
      this.#version = object.metadata.resourceVersion ?? this.#version;
      if (type === 'BOOKMARK') continue;
      if (type === 'DELETED') this.#objects.delete(object.metadata.name);
      else this.#objects.set(object.metadata.name, object);
      this.#changed();
    }
  }

  #changed(): void {
    for (const look of [...this.#waiting]) look();
  }
}
