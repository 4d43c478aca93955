/**
 * Owns what is stored about conversations besides their logs: one record each, the marks of those that may need their loop, and for each
 * conversation the ids of those that its agent delegated to.
 *
 * CN1  Changes of one record are made one after the other, each on the result of the one before; different records do not wait for each other.
 * CN2  A mark is set before the first action is appended, so that a restart finds the conversation.
 * CN3  A mark without a record is of a conversation whose deletion was cut off.
 * CN4  `updated_at` is written behind: every reader here sees it at once, the store has it `BEHIND_MS` later, and when this is closed.
 * CN5  An entry in `delegations/<parent>` is stored no later than the record it names; one without a record is ignored.
 */
import { setImmediate } from 'node:timers/promises';
import { type AgentFile, KeyedMutex, type Clock, type ConversationRecord, type RecordStore } from '@tendon/core';
import type { ConfirmationMode, ConfirmationRule, ConversationState, EventAuthor, ModelEffort } from '@tendon/protocol';
import { partyOf } from '../limits/party.ts';
import type { Work } from '../limits/running.ts';
import type { RequestName } from './create-conversation-params.ts';
import type { StoredNetwork, StoredQuestions } from './network/conversation-network.ts';

interface DelegatedBy {
  readonly conversation_id: string;
  readonly action_id: number;
  /** With more than one level: the conversation to which nobody delegated, and how many levels it is above. */
  readonly root?: { readonly conversation_id: string; readonly depth: number } | undefined;
}

/** Up to where a conversation's person was notified: the event, and when the newest question of its sandbox was asked. */
export interface Pushed {
  readonly event: number;
  readonly asked_at: string;
}

/** A conversation as the server keeps it. */
export type StoredConversation = ConversationRecord & {
  /** Whose members may see it; missing: of no organisation, for those alone who administer the server. */
  readonly organisation_id?: string;
  /** Who began it, where the server has users. */
  readonly created_by?: EventAuthor;
  /** Of the organisation's members only who began it and its admins see it. */
  readonly is_private?: boolean;
  /** It stays, however long nobody uses it. */
  readonly is_pinned?: boolean;
  /** Somebody stopped it and nobody has started it since. */
  readonly stopped?: boolean;
  /** The file of `agent` as it was when that was chosen; missing for one that is built in. */
  readonly agent_file?: AgentFile | undefined;
  /** `agent` is not the one that the conversation began with. */
  readonly agent_changed?: boolean;
  /** Who carries out the plan that is being made. */
  readonly agent_before?: { readonly agent: string; readonly agent_file?: AgentFile | undefined } | undefined;
  /** The one that delegated it changes nothing, so its own agent cannot either. */
  readonly read_only?: true;
  /** Chosen for this conversation; otherwise the stored settings decide. */
  readonly confirmation_mode?: boolean | undefined;
  /** Chosen for this conversation; before everything else. */
  readonly confirmation_policy?: ConfirmationMode | undefined;
  /** Chosen for this conversation: who judges the risk. */
  readonly confirmation_analyzer?: string | undefined;
  /** That choice was changed, and not every log says so yet. */
  readonly policy_unreported?: true | undefined;
  /** Saved by a person while it ran. */
  readonly confirmation_rules?: readonly ConfirmationRule[];
  /** Of a delegated conversation, which has no repository of its own: the one whose rules hold in it. */
  readonly rules_repository?: string | null;
  /** Chosen for this conversation; otherwise the stored settings decide, then the environment. */
  readonly other_models?: OtherModels;
  readonly max_iterations?: number;
  readonly max_budget_usd?: number;
  /** For the agent, from the client that created the conversation. */
  readonly instructions?: string;
  readonly network?: StoredNetwork;
  readonly network_questions?: StoredQuestions;
  /** Of the pull requests that were opened in it, oldest first. */
  readonly pr_number?: readonly number[];
  /** MCP servers in place of the settings', sealed. */
  readonly tool_servers?: string;
  /** The key and the address of its model, from a client's `initialize`, sealed. */
  readonly model_access?: string | undefined;
  /** The incarnation of the sandbox that has the repository. */
  readonly repository_ready?: string;
  /** What identifies a request with an `Idempotency-Key` when it is repeated. */
  readonly request?: RequestName;
  /** The conversation whose agent asked for this one, and the action it did so with. */
  readonly delegated_by?: DelegatedBy;
  /** It was made with a copy of its workspace, which it works in, or which was removed because nothing changed in it. */
  readonly own_copy?: 'used' | 'removed';
  /** The conversation that it goes on from, and the last event that both have. */
  readonly forked_from?: { readonly conversation_id: string; readonly event_id: number };
  /** The key that created it, where that is no user's: what it uses is counted to that key. */
  readonly created_with?: string;
  readonly pushed?: Pushed;
  /** For lists: as it was when it was last closed. */
  readonly summary?: ConversationSummary;
};

/** What is chosen beside the model itself. */
export interface OtherModels {
  readonly effort?: ModelEffort;
  /** By name; asked with the key and at the address of the model. */
  readonly fallback?: string;
  readonly small?: string;
}

/** What lists show of a state. */
export interface ConversationSummary {
  readonly agent_state: string;
  readonly reason: string;
  readonly accumulated_cost: number;
  /** Of answers whose price nobody knows; they are not part of the cost. */
  readonly unpriced_tokens?: number;
  /** The model that gave the newest answer. */
  readonly answered_by?: string;
}

export function summaryOf({ agentState, reason, metrics }: ConversationState): ConversationSummary {
  const { accumulated_cost = 0, unpriced_tokens = 0, accumulated_token_usage: usage } = metrics ?? {};
  return {
    agent_state: agentState,
    reason,
    accumulated_cost,
    ...(unpriced_tokens > 0 && { unpriced_tokens }),
    ...(usage?.model && { answered_by: usage.model }),
  };
}

/** The conversation that it is a part of the work of; itself, where nobody delegated it. */
export function rootIdOf({ id, delegated_by: by }: Pick<StoredConversation, 'id' | 'delegated_by'>): string {
  return by?.root?.conversation_id ?? by?.conversation_id ?? id;
}

/** As work that is counted, and waits for its turn. */
export function workOf(record: StoredConversation): Work {
  return { id: record.id, rootId: rootIdOf(record), party: partyOf(record) };
}

/** How many have delegated it, one after the other. */
export function depthOf({ delegated_by: by }: Pick<StoredConversation, 'delegated_by'>): number {
  return by === undefined ? 0 : (by.root?.depth ?? 1);
}

export interface PageQuery {
  readonly limit: number;
  /** The last record of the page before. */
  readonly before?: { readonly sort: string; readonly id: string };
  /** Only those whose title contains these words, whatever the letter case. */
  readonly titled?: string;
  /** Only those of which it is true. */
  readonly isMeant?: (record: StoredConversation) => boolean;
}

/** Of one conversation, the newest. */
const MAX_PULL_REQUESTS = 100;
/** A killed server loses the times of last use of this period. */
const BEHIND_MS = 5_000;
/** Records that are written behind at the same time: one group commit's worth, so that other writes are not delayed. */
const WRITTEN_TOGETHER = 128;
/** Records that are read before the event loop is yielded. */
const READ_AT_ONCE = 64;

/** What is filtered is looked through in pieces of so many. */
const FILTERED_PAGE = 200;

type Change = (record: StoredConversation) => Partial<StoredConversation> | undefined;

export class ConversationRecords {
  readonly #store: RecordStore;
  readonly #clock: Clock;
  readonly #marked = new Set<string>();
  readonly #deleted = new Set<string>();
  readonly #reserved = new Set<string>();
  readonly #writing = new KeyedMutex();
  /** The `updated_at` values that are not stored yet. */
  readonly #touched = new Map<string, string>();
  readonly #closing = new AbortController();
  #writingBehind: Promise<void> | undefined;

  constructor(store: RecordStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Reserves an id for the first caller, until it is released; false when there is, or was just now, such a conversation. */
  async reserve(id: string): Promise<boolean> {
    if (this.#reserved.has(id) || this.#deleted.has(id)) return false;
    this.#reserved.add(id);
    // A mark alone is of a deletion that was cut off (CN3).
    const found = await Promise.all([this.get(id), this.#store.get('active', id)]);
    if (found.every((one) => one === undefined)) return true;
    this.#reserved.delete(id);
    return false;
  }

  release(id: string): void {
    this.#reserved.delete(id);
  }

  /** Stored and marked with one commit. */
  async add(record: StoredConversation): Promise<void> {
    const { id, created_at: sort, delegated_by: by } = record;
    const entry = by && this.#store.put(delegationsOf(by.conversation_id), { id, sort, value: {} });
    await Promise.all([entry, this.#put(record), this.mark(id)]);
  }

  /** This one is about to be made by the first one's agent: what there is of it goes with the first. */
  async announceDelegated(parent: string, id: string): Promise<void> {
    await this.#store.put(delegationsOf(parent), { id, sort: this.now(), value: {} });
  }

  async get(id: string): Promise<StoredConversation | undefined> {
    if (this.#deleted.has(id)) return undefined;
    const record = await this.#store.get<StoredConversation>('conversations', id);
    return record && this.#withTouch(record);
  }

  /** Newest first. */
  async list({ isMeant, ...query }: PageQuery): Promise<readonly StoredConversation[]> {
    if (isMeant) return this.#listThose(isMeant, query);
    return (await this.#store.list<StoredConversation>('conversations', query)).map((record) => this.#withTouch(record.value));
  }

  async #listThose(isMeant: (record: StoredConversation) => boolean, query: PageQuery): Promise<readonly StoredConversation[]> {
    const found: StoredConversation[] = [];
    const limit = Math.max(query.limit, FILTERED_PAGE);
    let { before } = query;
    for (;;) {
      const page = await this.list({ ...query, limit, ...(before && { before }) });
      found.push(...page.filter(isMeant));
      if (page.length < limit || found.length >= query.limit) return found.slice(0, query.limit);
      before = { sort: page.at(-1)!.created_at, id: page.at(-1)!.id };
      await setImmediate(); // clients are served between
    }
  }

  /** Ids of the conversations in which other agents did parts of this one's work; some of them may be deleted. */
  async delegatedBy(id: string): Promise<readonly string[]> {
    return (await this.#store.list(delegationsOf(id))).map((entry) => entry.id);
  }

  /** The record as it is then; `undefined` when there is none. A change to `undefined` changes nothing. */
  change(id: string, change: Change): Promise<StoredConversation | undefined> {
    return this.#writing.run(id, async () => {
      const record = await this.get(id);
      const changed = record && change(record);
      if (!record || !changed) return record;
      const next = { ...record, ...changed };
      const touched = this.#touched.get(id);
      await this.#put(next);
      // Unless it was used again meanwhile: that time is still to be written.
      if (this.#touched.get(id) === touched) this.#touched.delete(id);
      return next;
    });
  }

  /** A pull request was opened in it, or in one that its agent delegated to it. */
  async notePullRequest(id: string, number: number): Promise<void> {
    const record = await this.change(id, ({ pr_number: known = [] }) =>
      known.includes(number) ? undefined : { pr_number: [...known, number].slice(-MAX_PULL_REQUESTS) },
    );
    if (record?.delegated_by) await this.notePullRequest(record.delegated_by.conversation_id, number);
  }

  /** It was used now (CN4). */
  touch(id: string): void {
    if (this.#deleted.has(id)) return;
    this.#touched.set(id, this.now());
    this.#writingBehind ??= this.#writeBehind();
  }

  /** Stores the pending `updated_at` values. Rejects with the storage's error; a value that was not stored is retried at the next use. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writingBehind;
    await this.#writeTouched();
  }

  /** From the first tick on there is no such conversation; resolves when that is durable. Its mark stays until `forget`. */
  async remove({ id, delegated_by: by }: StoredConversation): Promise<void> {
    this.#deleted.add(id);
    this.#touched.delete(id);
    // After the writes that have begun.
    await this.#writing.run(id, () => this.#removeStored(id));
    if (by) await this.forgetDelegated(by.conversation_id, id);
  }

  /** The same, after all changes that have begun and where it is meant as it is then. False: it is not, and stays. */
  async removeIf(id: string, isMeant: (record: StoredConversation) => boolean): Promise<boolean> {
    const removed = await this.#writing.run(id, async () => {
      const record = await this.get(id);
      if (!record || !isMeant(record)) return undefined;
      this.#deleted.add(id);
      this.#touched.delete(id);
      await this.#removeStored(id);
      return record;
    });
    if (removed?.delegated_by) await this.forgetDelegated(removed.delegated_by.conversation_id, id);
    return removed !== undefined;
  }

  async #removeStored(id: string): Promise<void> {
    await this.#store.put('active', { id, sort: '', value: {} });
    await this.#store.delete('conversations', id);
  }

  async forgetDelegated(parent: string, id: string): Promise<void> {
    await this.#store.delete(delegationsOf(parent), id);
  }

  /** Nothing is left of a removed one. */
  async forget(id: string): Promise<void> {
    this.#marked.delete(id);
    await this.#store.delete('active', id);
  }

  async mark(id: string): Promise<void> {
    if (this.#marked.has(id)) return;
    await this.#store.put('active', { id, sort: '', value: {} });
    this.#marked.add(id);
  }

  /** A mark that is set after this call is stored after it. */
  async unmark(id: string): Promise<void> {
    if (this.#deleted.has(id)) return;
    this.#marked.delete(id);
    await this.#store.delete('active', id);
  }

  /** Whether a restart would look after it. */
  async isMarked(id: string): Promise<boolean> {
    return (await this.#store.get('active', id)) !== undefined;
  }

  /** What is pending of a conversation that leaves this server is stored, and its mark looked up anew when it comes back. */
  async settle(id: string): Promise<void> {
    this.#marked.delete(id);
    if (this.#touched.has(id)) await this.change(id, () => ({}));
  }

  /** Another server may have taken them away. */
  forgetMarks(): void {
    this.#marked.clear();
  }

  /** The most recently used first, marks without a record last. */
  async marked(): Promise<readonly string[]> {
    const ids = (await this.#store.list('active')).map(({ id }) => id);
    const used = new Map<string, string>();
    for (const [index, id] of ids.entries()) {
      this.#marked.add(id);
      used.set(id, (await this.get(id))?.updated_at ?? '');
      if (index % READ_AT_ONCE === READ_AT_ONCE - 1) await setImmediate();
    }
    return ids.toSorted((a, b) => compare(used.get(b)!, used.get(a)!));
  }

  now(): string {
    return this.#clock.now().toISOString();
  }

  async #writeBehind(): Promise<void> {
    await this.#clock.sleep(BEHIND_MS, { signal: this.#closing.signal }).catch(() => undefined);
    this.#writingBehind = undefined;
    if (!this.#closing.signal.aborted) await this.#writeTouched().catch(() => undefined);
  }

  async #writeTouched(): Promise<void> {
    const ids = [...this.#touched.keys()];
    for (let at = 0; at < ids.length; at += WRITTEN_TOGETHER) {
      await Promise.all(ids.slice(at, at + WRITTEN_TOGETHER).map((id) => this.change(id, () => ({}))));
    }
  }

  #withTouch(record: StoredConversation): StoredConversation {
    const updated_at = this.#touched.get(record.id);
    return updated_at === undefined ? record : { ...record, updated_at };
  }

  #put(record: StoredConversation): Promise<void> {
    return this.#store.put('conversations', { id: record.id, sort: record.created_at, value: record });
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The collection of those that this one's agent delegated to. */
function delegationsOf(parent: string): string {
  return `delegations/${parent}`;
}
