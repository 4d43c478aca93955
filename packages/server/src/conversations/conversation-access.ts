/** Who sees which conversation: the one place that decides it. What a caller may do in those is their scope's matter. */
import { aborted } from '@tendon/protocol/async';
import type { Caller } from '../platform/auth/caller.ts';
import type { ConversationRecords, StoredConversation } from './conversation-records.ts';

export type OwnedRecord = Pick<StoredConversation, 'organisation_id' | 'created_by' | 'is_private'>;

/**
 * A user sees those of the organisation in which they act; a private one, who began it and who administers the organisation. What has no
 * organisation is for callers that are no user: the server's own key, and keys of nobody.
 */
export function seesConversation({ userId, organisationId, scope }: Caller, record: OwnedRecord): boolean {
  if (userId === undefined) return true;
  if (organisationId === undefined || record.organisation_id !== organisationId) return false;
  return record.is_private !== true || scope === 'admin' || record.created_by?.id === userId;
}

type VisibilityRecords = Pick<ConversationRecords, 'get' | 'change' | 'delegatedBy'>;

/** The same by id, and the change of it. */
export class ConversationVisibility {
  readonly #records: VisibilityRecords;
  /** By conversation, those who look at it. */
  readonly #watching = new Map<string, Set<() => void>>();

  constructor(records: VisibilityRecords) {
    this.#records = records;
  }

  /** Of one that does not exist the answer to a user is no. */
  async sees(by: Caller, id: string): Promise<boolean> {
    if (by.userId === undefined) return true;
    const record = await this.#records.get(id);
    return record !== undefined && seesConversation(by, record);
  }

  /** Hides it, with what its agent delegated, from the other members of its organisation, or shows it to them. False when there is none. */
  async setPrivate(id: string, is_private: boolean): Promise<boolean> {
    const record = await this.#records.change(id, () => ({ is_private }));
    for (const look of this.#watching.get(id) ?? []) look();
    for (const delegated of await this.#records.delegatedBy(id)) await this.setPrivate(delegated, is_private);
    return record !== undefined;
  }

  /** Resolves when the caller sees it no more, or `signal` aborts. */
  hidden(by: Caller, id: string, signal: AbortSignal): Promise<void> {
    if (by.userId === undefined) return aborted(signal);
    const watching = this.#watching.get(id) ?? new Set();
    this.#watching.set(id, watching);
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => void this.sees(by, id).then((sees) => sees || resolve(), resolve);
    watching.add(look);
    look();
    return Promise.race([promise, aborted(signal)]).finally(() => {
      watching.delete(look);
      if (watching.size === 0) this.#watching.delete(id);
    });
  }
}

/** What the agent of one conversation may find of another: what everybody who sees the first could see. */
export function isFoundBy(own: OwnedRecord, other: OwnedRecord): boolean {
  if (own.organisation_id !== other.organisation_id) return false;
  return other.is_private !== true || (own.is_private === true && own.created_by?.id === other.created_by?.id);
}
