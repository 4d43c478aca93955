/**
 * Owns what sandboxes ask of a person: whether they may reach a name that only the conversation's list lacks. It does not own the policy,
 * which an answer changes.
 *
 * NQ1  A host is asked for once in a conversation; what the conversations ask that its agent delegated to is asked in it.
 * NQ2  At most `MAX_OPEN` questions are open; after `MAX_REFUSED` refusals nothing is asked any more.
 * NQ3  A question is in the record before anybody is shown it, and is answered once.
 * NQ4  The connection that asks first waits while somebody looks who is shown the question and may answer it, here or in a conversation of
 *      NQ1, and never longer than `waitMs`; later ones wait with it.
 */
import { KeyedMutex, type Clock } from '@tendon/core';
import { catalogError, type CatalogError, type NetworkFrame, type NetworkQuestion } from '@tendon/protocol';
import { isAskable, type NetworkPolicy } from '@tendon/runtime';
import { rootIdOf, type ConversationRecords, type StoredConversation } from '../conversation-records.ts';
import type { StoredQuestions } from './conversation-network.ts';
import type { FrameListener, OpenConversation } from '../open-conversations.ts';
import type { Logger } from '../../platform/logger.ts';

export type PersonsAnswer = 'once' | 'always' | 'refuse';

export interface NetworkQuestionsOptions {
  readonly records: ConversationRecords;
  /** The open ones. */
  readonly open: ReadonlyMap<string, OpenConversation>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly waitMs: number;
  readonly policyOf: (record: StoredConversation) => NetworkPolicy;
  /** Opens a name to every conversation, durably. */
  readonly allowAlways: (host: string) => Promise<CatalogError | undefined>;
}

interface Waiting {
  readonly over: Promise<void>;
  end(): void;
}

const MAX_OPEN = 8;
const MAX_REFUSED = 100;
/** What `PUT …/network` takes. */
const MAX_ALLOWED = 200;

const NOTHING: StoredQuestions = { open: [], refused: [] };

export class NetworkQuestions {
  readonly #options: NetworkQuestionsOptions;
  /** By conversation and host. */
  readonly #waiting = new Map<string, Waiting>();
  /** How many attend each conversation. */
  readonly #attending = new Map<string, number>();
  readonly #answering = new KeyedMutex();
  readonly #announcing = new KeyedMutex();
  #onAsked = (_rootId: string): void => undefined;

  constructor(options: NetworkQuestionsOptions) {
    this.#options = options;
  }

  /** Registers a listener for questions that are in the record of their conversation. */
  listen(onAsked: (rootId: string) => void): void {
    this.#onAsked = onAsked;
  }

  /** Somebody looks at this conversation who is shown its questions and may answer them; until the returned function is called. */
  attend(id: string): () => void {
    const add = (change: 1 | -1) => {
      const count = (this.#attending.get(id) ?? 0) + change;
      if (count > 0) this.#attending.set(id, count);
      else this.#attending.delete(id);
    };
    add(1);
    return () => add(-1);
  }

  /** Whether somebody does. */
  isAttended(id: string): boolean {
    return this.#attending.has(id);
  }

  /** Those that wait for an answer, of the conversation that this one belongs to; the oldest first. */
  async list(id: string): Promise<readonly NetworkQuestion[]> {
    const root = await this.#rootOf(id);
    return root ? this.#open(root) : [];
  }

  /** Those of a conversation to which nobody delegated, as its record has them. */
  openIn(record: StoredConversation): readonly NetworkQuestion[] {
    return record.delegated_by ? [] : this.#open(record);
  }

  /** See `AskPerson`. A sandbox can try as often as it likes: what is known costs one look at the record. */
  async ask(id: string, { host, port }: Pick<NetworkQuestion, 'host' | 'port'>): Promise<string | undefined> {
    const root = await this.#rootOf(id);
    if (!root) return undefined;
    const key = `${root.id} ${host}`;
    const refusal = this.#refusal(root, host);
    if (refusal === undefined) await this.#add(root.id, { host, port });
    else if (!this.#waiting.has(key)) return refusal;
    await this.#waiting.get(key)?.over;
    const now = await this.#options.records.get(root.id);
    return now && this.#refusal(now, host);
  }

  async #add(rootId: string, { host, port }: Pick<NetworkQuestion, 'host' | 'port'>): Promise<void> {
    const { records, logger } = this.#options;
    // Before the question is there: from then on, nothing may come between it and its wait.
    const asked = await this.#askedIn(rootId);
    let isNew = false;
    await records.change(rootId, (found) => {
      isNew = this.#refusal(found, host) === undefined && isAskable(this.#options.policyOf(found), host, port);
      const open = [...this.#open(found), { host, port, asked_at: records.now() }];
      return isNew ? { network_questions: { open, refused: found.network_questions?.refused ?? [] } } : undefined;
    });
    if (!isNew) return;
    logger.info({ conversation: rootId }, `a person is asked whether the sandbox may reach ${host}:${port}`);
    if (asked.some((id) => this.#attending.has(id))) this.#wait(`${rootId} ${host}`);
    this.#onAsked(rootId);
    await this.#announce(rootId);
  }

  /** The reason why it was not taken; `undefined` when it counts from the next connection on. */
  async answer(id: string, host: string, answer: PersonsAnswer): Promise<CatalogError | undefined> {
    const root = await this.#rootOf(id);
    if (!root) return catalogError('CONVERSATION_NOT_FOUND', id);
    const error = await this.#answering.run(root.id, () => this.#take(root.id, host, answer));
    if (error) return error;
    this.#options.logger.info({ conversation: root.id }, `a person answered whether the sandbox may reach ${host}: ${answer}`);
    this.#waiting.get(`${root.id} ${host}`)?.end();
    await this.#announce(root.id);
    return undefined;
  }

  async #take(rootId: string, host: string, answer: PersonsAnswer): Promise<CatalogError | undefined> {
    const { records, allowAlways } = this.#options;
    const record = await records.get(rootId);
    if (!record || !this.#open(record).some((question) => question.host === host)) return catalogError('NO_SUCH_QUESTION', host);
    if (answer === 'once' && (record.network?.allow.length ?? 0) >= MAX_ALLOWED) return catalogError('INVALID_ARGUMENTS', LIST_IS_FULL);
    // Before the question goes: after a crash in between, the policy has answered it.
    const failure = answer === 'always' ? await allowAlways(host) : undefined;
    if (failure) return failure;
    await records.change(rootId, ({ network, network_questions: stored = NOTHING }) => ({
      network_questions: {
        open: stored.open.filter((question) => question.host !== host),
        refused: answer === 'refuse' ? [...stored.refused, host] : stored.refused,
      },
      ...(answer === 'once' && { network: { ...network, allow: [...(network?.allow ?? []), host] } }),
    }));
    return undefined;
  }

  /** Hands what is open to somebody who has just come; the others were sent it. */
  async show(id: string, to: FrameListener): Promise<void> {
    const root = await this.#rootOf(id);
    if (root && this.#open(root).length > 0) await this.#announce(root.id, async () => [to]);
  }

  /** A policy was changed in another way, or with `undefined` everybody's: what it answers is asked no more, what it closes again is. */
  async policyChanged(id?: string): Promise<void> {
    const ids = id === undefined ? [...this.#options.open.keys()] : [id];
    for (const one of ids) {
      const root = await this.#rootOf(one);
      if (!root?.network_questions || root.network_questions.open.length === 0) continue;
      const open = this.#open(root);
      const answered = root.network_questions.open.filter((question) => !open.includes(question));
      for (const { host } of answered) this.#waiting.get(`${root.id} ${host}`)?.end();
      await this.#announce(root.id);
    }
  }

  /** The conversation that this one belongs to, and those that its agent delegated to: what is allowed to the first counts in all. */
  async sharedBy(id: string): Promise<readonly string[]> {
    const root = await this.#rootOf(id);
    return root ? this.#askedIn(root.id) : [id];
  }

  close(): void {
    for (const waiting of this.#waiting.values()) waiting.end();
  }

  #wait(key: string): void {
    const ended = new AbortController();
    const over = this.#options.clock.sleep(this.#options.waitMs, { signal: ended.signal }).catch(() => undefined);
    this.#waiting.set(key, { over, end: () => ended.abort() });
    void over.then(() => this.#waiting.delete(key));
  }

  /** Why a connection to a host that is on no list is refused; `undefined` when a question can be asked, or was answered. */
  #refusal(record: StoredConversation, host: string): string | undefined {
    const { refused } = record.network_questions ?? NOTHING;
    const open = this.#open(record);
    const unlisted = `${host} is not on the list of this conversation (policy "allowlist")`;
    if (refused.includes(host)) return `${unlisted}, and a person refused it`;
    if (open.some((question) => question.host === host)) {
      return `${unlisted}; a person is asked in the conversation and has not answered yet, so try again later`;
    }
    if (refused.length >= MAX_REFUSED) return `${unlisted}; nobody is asked about it, because a person refused ${MAX_REFUSED} others`;
    return open.length >= MAX_OPEN ? `${unlisted}; nobody is asked about it until ${MAX_OPEN} other questions are answered` : undefined;
  }

  /** Without those that the policy has answered by now. */
  #open(record: StoredConversation): readonly NetworkQuestion[] {
    const policy = this.#options.policyOf(record);
    return (record.network_questions ?? NOTHING).open.filter(({ host, port }) => isAskable(policy, host, port));
  }

  async #rootOf(id: string): Promise<StoredConversation | undefined> {
    const { records } = this.#options;
    const record = await records.get(id);
    return record?.delegated_by ? records.get(rootIdOf(record)) : record;
  }

  /** The conversation and those that its agent delegated to, however deep. */
  async #askedIn(rootId: string): Promise<readonly string[]> {
    const below = await Promise.all((await this.#options.records.delegatedBy(rootId)).map((id) => this.#askedIn(id)));
    return [rootId, ...below.flat()];
  }

  async #listeners(rootId: string): Promise<readonly FrameListener[]> {
    const ids = await this.#askedIn(rootId);
    return ids.map((id) => (frame) => this.#options.open.get(id)?.announce(frame));
  }

  /** By default to everybody who looks at any of them. One after the other: the last frame is how it is. */
  #announce(rootId: string, listeners = () => this.#listeners(rootId)): Promise<void> {
    return this.#announcing.run(rootId, async () => {
      const to = await listeners();
      const root = await this.#options.records.get(rootId);
      if (!root) return;
      const frame: NetworkFrame = { volatile: 'network', questions: this.#open(root) };
      for (const listener of to) listener(frame);
    });
  }
}

const LIST_IS_FULL = `the list of this conversation has ${MAX_ALLOWED} names already`;
