/**
 * Erases users: removes everything that is theirs alone, and their name from conversations in which others took part. Does not own how
 * each part is removed.
 *
 * ERA1  An erasure is durable before anything is removed, and each of its steps can be repeated: after a kill, the next start of a
 *       server completes it.
 * ERA2  Each server removes the conversations that it has and those that no server has. The erasure ends when none is left.
 */
import { setImmediate } from 'node:timers/promises';
import { loggedEvents, type Clock, type RecordStore, type Scheduler } from '@tendon/core';
import type { ErasureInfo } from '@tendon/protocol';
import { Mutex } from '@tendon/protocol/async';
import type { Audit } from '../audit/audit.ts';
import { allConversations } from '../conversations/all-conversations.ts';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { OwnedGitAccounts } from '../git-providers/owned-git-accounts.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import { revokeAllOf, type TokenStores } from '../platform/auth/token-stores.ts';
import { erasedNameOf, type UserDirectory } from '../platform/auth/user-directory.ts';
import type { Logger } from '../platform/logger.ts';
import type { OwnedSecrets } from '../secrets/owned-secrets.ts';
import type { PushDevices } from '../push/push-devices.ts';
import type { Triggers } from '../triggers/triggers.ts';

/** The stores that hold data of users. */
interface UserParts {
  readonly access: TokenStores;
  readonly ownedSecrets: Pick<OwnedSecrets, 'removeAllOf'>;
  readonly gitAccounts: Pick<OwnedGitAccounts, 'removeAllOf'>;
  readonly limits: Pick<LimitStore, 'remove'>;
  readonly pushDevices: Pick<PushDevices, 'removeAllOf'>;
  readonly triggers: Pick<Triggers, 'delete' | 'store'>;
  readonly conversations: Conversations;
}

export interface ErasuresOptions extends UserParts {
  readonly users: UserDirectory;
  readonly records: RecordStore;
  readonly scheduler: Pick<Scheduler, 'find' | 'self'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly audit: Pick<Audit, 'record'> | undefined;
}

const COLLECTION = 'erasures';
/** The pause before conversations of other servers are tried again. */
const RETRY_MS = 30_000;
/** Until the other servers read of the erasure they let the user in; this waits for that, and then removes what came meanwhile. */
const HEARD_MS = 1_500;

export class Erasures {
  readonly #options: ErasuresOptions;
  readonly #running = new Mutex();
  readonly #closing = new AbortController();
  #unwatch = (): void => undefined;
  #retrying: Promise<void> | undefined;

  constructor(options: ErasuresOptions) {
    this.#options = options;
  }

  /** Completes erasures that were interrupted, here or on another server. */
  start(): void {
    this.#unwatch = this.#options.records.watch(COLLECTION, () => void this.#resume());
    this.#resume();
  }

  /** Resolves when this server has done its part. */
  async erase(userId: string): Promise<ErasureInfo> {
    await this.#options.records.put(COLLECTION, { id: userId, sort: this.#options.clock.now().toISOString(), value: {} });
    const left = await this.#running.run(() => this.#erase(userId));
    if (left > 0) this.#resume();
    return { user_id: userId, is_done: left === 0, conversations_left: left };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#unwatch();
    await this.#retrying;
    await this.#running.run(async () => undefined);
  }

  #resume(): void {
    this.#retrying ??= this.#resumeAll().finally(() => (this.#retrying = undefined));
  }

  async #resumeAll(): Promise<void> {
    const { records, clock, logger } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const pending = await records.list(COLLECTION).catch(() => []);
      if (pending.length === 0) return;
      for (const { id } of pending) {
        await this.#running
          .run(() => this.#erase(id))
          .catch((cause: unknown) => logger.error({ err: cause, user: id }, 'the erasure of a user could not be completed'));
      }
      await clock.sleep(RETRY_MS, { signal }).catch(() => undefined);
    }
  }

  /** Resolves with the number of conversations that are left because other servers have them. */
  async #erase(userId: string): Promise<number> {
    const { users, access, ownedSecrets, gitAccounts, limits, pushDevices, triggers, records, audit } = this.#options;
    await users.erase(userId);
    if (this.#options.scheduler.self) await this.#options.clock.sleep(HEARD_MS, { signal: this.#closing.signal }).catch(() => undefined);
    await revokeAllOf(access, userId);
    await ownedSecrets.removeAllOf(userId);
    await gitAccounts.removeAllOf(userId);
    await limits.remove(`user:${userId}`);
    await pushDevices.removeAllOf(userId);
    for (const { id, created_by: by } of await triggers.store.listNow()) if (by?.id === userId) await triggers.delete(id);
    const left = await this.#eraseConversations(userId);
    if (left === 0 && !this.#closing.signal.aborted && (await records.delete(COLLECTION, userId)))
      await audit?.record({ by: undefined, action: 'user.erasure-completed', target: userId });
    return left;
  }

  async #eraseConversations(userId: string): Promise<number> {
    const { conversations, scheduler } = this.#options;
    const isMeant = ({ created_by: by }: StoredConversation): boolean => by?.id === userId && by.name !== erasedNameOf(userId);
    let left = 0;
    for await (const record of allConversations(conversations, { isMeant })) {
      if (this.#closing.signal.aborted) return left + 1;
      const above = record.delegated_by && (await conversations.get(record.delegated_by.conversation_id));
      // It goes or stays with the conversation that delegated it.
      if (above && isMeant(above)) continue;
      const isPeers = (await scheduler.find(record.id)).at === 'peer';
      if (isPeers) left += 1;
      else await this.#eraseConversation(record, userId);
      await setImmediate();
    }
    return left;
  }

  /** Deletes the conversation with all that it delegated, or only the user's name where others wrote in any of them. */
  async #eraseConversation({ id }: StoredConversation, userId: string): Promise<void> {
    const { conversations } = this.#options;
    const parts = await this.#withDelegated(id);
    for (const part of parts) {
      if (!(await this.#hasOthers(part, userId))) continue;
      for (const each of parts) await conversations.ends.setBeginner(each, { id: userId, name: erasedNameOf(userId) });
      return;
    }
    await conversations.delete(id);
  }

  /** The conversation comes last: while it still has the name, an interrupted attempt finds all of them again. */
  async #withDelegated(id: string): Promise<readonly string[]> {
    const below: string[] = [];
    for (const delegated of await this.#options.conversations.delegatedBy(id)) below.push(...(await this.#withDelegated(delegated)));
    return [...below, id];
  }

  async #hasOthers(id: string, userId: string): Promise<boolean> {
    const log = await this.#options.conversations.log(id);
    if (!log) return false;
    for await (const { author } of loggedEvents(log)) if (author !== undefined && author.id !== userId) return true;
    return false;
  }
}
