/**
 * Owns that conversations come to this server and leave it, where several share a storage. It does not own which server has one: the
 * scheduler decides that, and the log holds it.
 *
 * MO1  A conversation is open here only while this server has it.
 * MO2  One that leaves is closed before it is given up, and what was known of it here is forgotten: another server may change it.
 * MO3  After `drain` has begun none comes.
 */
import { StorageError, type ConversationRef, type Scheduler } from '@tendon/core';
import type { Logger } from '../platform/logger.ts';
import { rootIdOf, type ConversationRecords, type StoredConversation } from './conversation-records.ts';
import { MOVED, type OpenConversation, type OpenConversations } from './open-conversations.ts';

export interface MovingOptions {
  readonly scheduler: Scheduler;
  readonly records: ConversationRecords;
  readonly open: OpenConversations;
  /** All that are open now. */
  readonly opened: ReadonlyMap<string, OpenConversation>;
  /** Forgets what is known of a conversation beside its record. Default: of all. */
  readonly forget: (id?: string) => void;
  /** Detaches from its sandbox, which continues without this server. */
  readonly releaseSandbox?: ((id: string) => Promise<void>) | undefined;
  /** Goes on with conversations whose server has ended. */
  readonly wake: (ids: readonly string[]) => Promise<void>;
  readonly logger: Logger;
}

export class MovingConversations {
  readonly #options: MovingOptions;
  #draining: Promise<void> | undefined;

  constructor(options: MovingOptions) {
    this.#options = options;
  }

  get isDraining(): boolean {
    return this.#draining !== undefined;
  }

  /** Before a conversation is made or opened. Rejects with `StorageError('fenced')` where another server has it, or will. */
  async claim(conversation: ConversationRef): Promise<void> {
    const isHere = !this.isDraining && (await this.#options.scheduler.claim(conversation)).at === 'here';
    if (!isHere) throw new StorageError('fenced', MOVED.message);
  }

  /** From now on what other servers leave comes here, too. */
  start(): void {
    const { scheduler, wake, open } = this.#options;
    scheduler.start({ wake, standDown: () => this.#standDown(), load: () => open.size });
  }

  /** The engine could not write: was it because another server has the conversation now? Then it ends here. */
  lost(id: string, cause: unknown): void {
    const open = this.#options.opened.get(id);
    if (cause instanceof StorageError && cause.code === 'fenced' && open && !open.ended.aborted) void this.#leave([open]);
  }

  /** Gives up all that this server has. Until `deadline` answers that models are giving are waited for. */
  drain(deadline: AbortSignal): Promise<void> {
    this.#draining ??= this.#drain(deadline);
    return this.#draining;
  }

  async #drain(deadline: AbortSignal): Promise<void> {
    const { scheduler, opened } = this.#options;
    await scheduler.retire();
    const groups = Map.groupBy(opened.values(), (open) => open.rootId);
    await Promise.all(
      [...groups].map(async ([rootId, group]) => {
        await this.#leave(group, deadline);
        await scheduler.release([rootId]);
      }),
    );
    await scheduler.release();
  }

  async #standDown(): Promise<void> {
    this.#options.logger.warn('another server has taken over what this one had: it closes all of it, and begins anew');
    await this.#leave([...this.#options.opened.values()]);
    this.#options.records.forgetMarks();
    this.#options.forget();
  }

  /** Those that cannot be closed in good order are closed all the same. */
  async #leave(group: readonly OpenConversation[], deadline?: AbortSignal): Promise<void> {
    const { open, records, forget, releaseSandbox } = this.#options;
    await Promise.allSettled(group.map((each) => open.close(each, MOVED, deadline)));
    for (const { conversation } of group) {
      await records.settle(conversation.id).catch(() => undefined);
      await releaseSandbox?.(conversation.id).catch(() => undefined);
      forget(conversation.id);
    }
  }
}

/** For the scheduler. */
export function refOf(record: Pick<StoredConversation, 'id' | 'delegated_by'>): ConversationRef {
  return { id: record.id, rootId: rootIdOf(record) };
}
