import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from './api-error.ts';
import { WATCH_SECONDS, type ClusterObject, type Resources } from './resources.ts';

const AGAIN_MS = [100, 500, 2000, 10_000] as const;
/** A watch that is still open this long after its requested end has lost its connection without notice. */
const SILENT_MS = (WATCH_SECONDS + 30) * 1000;
const GONE = 410;

/**
 * A cache of the objects of one kind that a selector matches: lists them once and watches from there. Owns one connection at a time, which does
 * not keep the process alive.
 *
 * WOB1  The cache never goes back in time: a watch continues at the version where the last one ended. If the API server has forgotten that
 *       version (410), everything is listed again, which also finds deletions.
 * WOB2  While the API server does not answer, the cache keeps its last state; nothing counts as deleted.
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

  /** Resolves when the objects were listed once. Rejects when that failed; the next call tries again. */
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

  /** Calls `find` now and after each change. Resolves with its first result that is not `undefined`; rejects with what it throws, or the signal's reason. */
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
        // WOB1; list again after any other repeated failure too.
        isKnown = !(error instanceof ApiError && error.status === GONE) && failures < AGAIN_MS.length;
        const waitMs = AGAIN_MS[Math.min(failures, AGAIN_MS.length - 1)]!;
        failures += 1; // the cache keeps its state (WOB2)
        await delay(waitMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {});
      }
    }
  }

  /** Resolves when the API server has ended the watch. */
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
