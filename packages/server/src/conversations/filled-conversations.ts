/**
 * Owns conversations that are made with something in them: a log, or a copy of a folder, before there is a record. A kill in between leaves
 * the mark alone, and the next start erases what there was; so does a failure.
 */
import type { ConversationRef, Runtimes } from '@tendon/core';
import type { ConversationRegistry } from './conversation-registry.ts';
import type { StoredConversation } from './conversation-records.ts';
import type { NewPlace } from './new-conversations.ts';

export interface FilledConversationsOptions {
  readonly registry: Pick<ConversationRegistry, 'records' | 'copied'>;
  readonly runtimes: Pick<Runtimes, 'stop'>;
  /** Called before there is anything of a conversation. Rejects where this server cannot have it. */
  readonly claim: (conversation: ConversationRef) => Promise<void>;
  /** Where the next one will be. */
  readonly place: () => Promise<NewPlace>;
  /** Fills a folder with a copy of the workspace in which the sandbox of this id works. Default: none is copied. */
  readonly copyWorkspace?: ((place: NewPlace, signal: AbortSignal) => Promise<void>) | undefined;
  readonly erase: (id: string) => Promise<void>;
  readonly closing: AbortSignal;
}

const COPY_MS = 10 * 60_000;

export class FilledConversations {
  readonly #options: FilledConversationsOptions;
  /** Marked, and without a record yet. */
  readonly #filling = new Set<string>();

  constructor(options: FilledConversationsOptions) {
    this.#options = options;
  }

  isFilling(id: string): boolean {
    return this.#filling.has(id);
  }

  /** Rejects where `fill` does. */
  async create(fill: (place: NewPlace) => Promise<StoredConversation>): Promise<StoredConversation> {
    const place = await this.#options.place();
    return this.#fill(place, async () => {
      const record = await fill(place);
      await this.#options.registry.records.add(record);
      return record;
    });
  }

  /** Fills the folder of a conversation that is not there yet with a copy of this one. Rejects with a reason that can be shown. */
  async copyFolder(place: NewPlace, from: string): Promise<void> {
    const { copyWorkspace, registry, runtimes, closing } = this.#options;
    if (!copyWorkspace) throw new Error('folders cannot be copied here');
    registry.copied.set(place.id, from);
    try {
      await this.#fill(place, async () => {
        await copyWorkspace(place, AbortSignal.any([closing, AbortSignal.timeout(COPY_MS)]));
        await runtimes.stop(place.id);
      });
    } finally {
      registry.copied.delete(place.id);
    }
  }

  async #fill<T>({ id }: NewPlace, work: () => Promise<T>): Promise<T> {
    const { registry, claim, erase } = this.#options;
    await claim({ id, rootId: id });
    this.#filling.add(id);
    try {
      await registry.records.mark(id);
      return await work();
    } catch (cause) {
      await erase(id);
      throw cause;
    } finally {
      this.#filling.delete(id);
    }
  }
}
