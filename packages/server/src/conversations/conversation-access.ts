/** Who sees which conversation: the one place that decides it. What a caller may do in those is their scope's matter. */
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

/** The same by id, and the change of it. */
export class ConversationVisibility {
  readonly #records: Pick<ConversationRecords, 'get' | 'change'>;

  constructor(records: Pick<ConversationRecords, 'get' | 'change'>) {
    this.#records = records;
  }

  /** Of one that does not exist the answer to a user is no. */
  async sees(by: Caller, id: string): Promise<boolean> {
    if (by.userId === undefined) return true;
    const record = await this.#records.get(id);
    return record !== undefined && seesConversation(by, record);
  }

  /** Hides it from the other members of its organisation, or shows it to them. False when there is none. */
  async setPrivate(id: string, is_private: boolean): Promise<boolean> {
    return (await this.#records.change(id, () => ({ is_private }))) !== undefined;
  }
}

/** What the agent of one conversation may find of another: what everybody who sees the first could see. */
export function isFoundBy(own: OwnedRecord, other: OwnedRecord): boolean {
  if (own.organisation_id !== other.organisation_id) return false;
  return other.is_private !== true || (own.created_by !== undefined && own.created_by.id === other.created_by?.id);
}
