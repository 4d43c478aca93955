/**
 * Owns how conversations end: what one leaves behind is erased here and nowhere else. It does not own which of them end.
 *
 * EC1  From the first tick of a deletion on there is no such conversation. What a kill leaves of it is erased at the next start.
 * EC2  What it has delegated goes with it.
 */
import type { Runtimes, Storage } from '@tendon/core';
import { catalogError, type EventAuthor } from '@tendon/protocol';
import { removeFolder } from '@tendon/runtime';
import type { Audit } from '../audit/audit.ts';
import { ownFolder } from '../sandboxes/workspace-folder.ts';
import type { ConversationRecords, StoredConversation } from './conversation-records.ts';
import type { OpenConversations } from './open-conversations.ts';

interface ErasingParts {
  readonly records: ConversationRecords;
  readonly open: OpenConversations;
  readonly runtimes: Pick<Runtimes, 'stop'>;
  readonly storage: Pick<Storage, 'events' | 'records'>;
  readonly home: string;
  readonly audit: Pick<Audit, 'record'> | undefined;
}

export interface ErasedConversationsOptions extends ErasingParts {
  /** Rejects where another server has it. */
  readonly claim: (record: StoredConversation) => Promise<void>;
  /** Forgets what is known of it beside its record. */
  readonly forget: (id: string) => void;
  /** Erases what others keep of it; called again when a deletion was cut off. */
  readonly onErase: ((id: string) => Promise<void>) | undefined;
}

export class ErasedConversations {
  readonly #options: ErasedConversationsOptions;

  constructor(options: ErasedConversationsOptions) {
    this.#options = options;
  }

  /** False when there is none. */
  async delete(id: string): Promise<boolean> {
    const { records, claim } = this.#options;
    const record = await records.get(id);
    if (!record) return false;
    await claim(record);
    await records.remove(record);
    await this.#end(id);
    return true;
  }

  /**
   * As `delete`, of one that nobody has open and of which `isMeant` is true at the last moment; false: it stays. `onRemoved` is waited for
   * when it is no conversation any more, and something of it is left.
   */
  async deleteUnused(
    id: string,
    { isMeant, onRemoved }: { readonly isMeant: (record: StoredConversation) => boolean; readonly onRemoved?: () => Promise<void> },
  ): Promise<boolean> {
    const { records, claim, open } = this.#options;
    const record = await records.get(id);
    if (!record || open.has(id)) return false;
    await claim(record);
    if (!(await records.removeIf(id, (now) => !open.has(id) && isMeant(now)))) return false;
    await onRemoved?.();
    await this.#end(id);
    return true;
  }

  /** It stays, however long nobody uses it. False when there is none. */
  async setPinned(id: string, is_pinned: boolean): Promise<boolean> {
    return (await this.#options.records.change(id, () => ({ is_pinned }))) !== undefined;
  }

  /** Who began it has another name now. */
  async setBeginner(id: string, created_by: EventAuthor): Promise<void> {
    await this.#options.records.change(id, () => ({ created_by }));
  }

  /** `open`: here, or about to be. `marked`: a restart would look after it. */
  async useOf(id: string): Promise<'open' | 'marked' | undefined> {
    if (this.#options.open.has(id)) return 'open';
    return (await this.#options.records.isMarked(id)) ? 'marked' : undefined;
  }

  async #end(id: string): Promise<void> {
    const { open: all } = this.#options;
    const open = await all.opening(id);
    if (open) await all.close(open, catalogError('CONVERSATION_DELETED', id));
    await this.erase(id);
  }

  /** Repeated at the next start when it is interrupted. */
  async erase(id: string): Promise<void> {
    const { records, runtimes, storage, onErase, home, forget } = this.#options;
    for (const delegated of await records.delegatedBy(id)) {
      // One without a record may have left the copy of a workspace that was being made for it.
      if (!(await this.delete(delegated))) await removeFolder(ownFolder(home, delegated));
      await records.forgetDelegated(id, delegated);
    }
    await onErase?.(id);
    await runtimes.stop(id, { forGood: true });
    await storage.events.delete(id);
    await storage.records.delete('replays', id);
    await removeFolder(ownFolder(home, id));
    forget(id);
    await records.forget(id);
  }

  /** Of a deletion, or a creation, that was cut off. */
  async eraseRest(id: string): Promise<void> {
    await this.erase(id);
    await this.#options.audit?.record({ by: undefined, action: 'conversation.erased', target: id });
  }
}
