/**
 * Owns which conversations exist and which are open. It does not own what happens inside one.
 *
 * CO1  A conversation is open at most once; concurrent callers share the opening, and the next opening waits for the closing.
 * CO2  An idle conversation is closed; opening it again is folding its log.
 * CO3  A deleted conversation cannot be opened again, even by a caller that still holds its id.
 */
import type { Clock, Conversation, ConversationRef, DelegatedTask, EventLog, Runtimes, Storage, SubmitResult } from '@tendon/core';
import { catalogError, type ActionKind, type ConversationState, type NetworkParams, type ParsedAction } from '@tendon/protocol';
import type { NetworkPolicy } from '@tendon/runtime';
import type { Audit } from '../audit/audit.ts';
import type { Quotas } from '../limits/quotas.ts';
import { partyOfCaller } from '../limits/party.ts';
import { workOf, type ConversationRecords, type PageQuery, type StoredConversation } from './conversation-records.ts';
import { ConversationVisibility, seesConversation } from './conversation-access.ts';
import type { ConversationRegistry } from './conversation-registry.ts';
import { ConversationTitles, type TitleOptions } from './conversation-titles.ts';
import { checkNetworkParams, type NetworkRules } from './network/conversation-network.ts';
import type { NetworkQuestions } from './network/network-questions.ts';
import { ErasedConversations } from './erased-conversations.ts';
import { FilledConversations } from './filled-conversations.ts';
import type { CreateConversationParams } from './create-conversation-params.ts';
import { MovingConversations, type MovingOptions, refOf } from './moving-conversations.ts';
import { NewConversations, type CreateResult, type DelegateParams, type NewPlace } from './new-conversations.ts';
import type { ReplayAnswer } from '../replay/read-trajectory.ts';
import { type OnLooked, type OpenConversation, OpenConversations } from './open-conversations.ts';
import { ConversationApprovals, type PolicyOf } from './confirmation/conversation-approvals.ts';
import { ConversationAgents } from './agents/conversation-agents.ts';
import { DelegatedQuestions } from './delegated/delegated-questions.ts';
import { SharedFolders } from './shared-folders.ts';
import { beginsWork, startsStopped, StoppedConversations } from './stopped-conversations.ts';
import { TaskBudgets } from './delegated/task-budget.ts';
import { WakingConversations } from './waking-conversations.ts';
import type { Draining } from '../platform/readiness.ts';
import type { FolderRules } from '../sandboxes/workspace-roots.ts';
import { authorOf, type Caller } from '../platform/auth/caller.ts';

/** How conversations are opened, and watched while they are. */
interface OpeningHooks {
  /** Makes the engine's conversation over the log of this record; `conversations` are these. */
  readonly open: (record: StoredConversation, conversations: Conversations) => Promise<Conversation>;
  readonly idleMs?: number;
  readonly onLooked?: OnLooked;
  /** Called when one was opened again that another server, or an earlier one, left at work. */
  readonly onWoken?: (id: string) => void;
}

/** How they are erased, and what everybody may do. */
interface ConversationHooks extends OpeningHooks {
  /** Erases what others keep of a conversation that is deleted; called again when a deletion was cut off. */
  readonly onErase?: (id: string) => Promise<void>;
  readonly releaseSandbox?: MovingOptions['releaseSandbox'];
  /** Who did what, for those who look later. Default: nobody does. */
  readonly audit?: Pick<Audit, 'record' | 'submitted'> | undefined;
  /** Default: the server does not leave. */
  readonly draining?: Draining;
  /** What everybody may use. Default: as much as they like. */
  readonly quotas?: Pick<Quotas, 'begin' | 'closed' | 'refusal'> | undefined;
}

export interface ConversationsOptions extends ConversationHooks, TitleOptions {
  readonly registry: ConversationRegistry;
  readonly config: Pick<FolderRules, 'home'>;
  /** The agent of conversations that name none, by the settings; default: the general one. */
  readonly usualAgent?: () => string | undefined;
  /** Which actions wait for a person; default: none. */
  readonly policyOf?: PolicyOf;
  readonly storage: Storage;
  readonly runtimes: Runtimes;
  /** Fills a folder with a copy of the workspace in which the sandbox of this id works. Default: none is copied. */
  readonly copyWorkspace?: (place: NewPlace, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
}

export interface SubmitOptions {
  /** The event that it answers, if it must. */
  readonly about?: number | undefined;
  /** Who did it. */
  readonly by?: Caller | undefined;
}

const BEGINS_WORK: ReadonlySet<string> = new Set<ActionKind>(['message', 'start']);
const NEVER_ASKS: PolicyOf = () => ({ mode: 'never', analyzer: 'rules' });

export class Conversations {
  /** Who works in each, and by which model. */
  readonly agents: ConversationAgents;
  readonly #options: ConversationsOptions;
  readonly #registry: ConversationRegistry;
  readonly #records: ConversationRecords;
  readonly #open: OpenConversations;
  readonly #stopped: StoppedConversations;
  readonly #new: NewConversations;
  readonly #shared: SharedFolders;
  readonly #titles: ConversationTitles;
  readonly #closing = new AbortController();
  /** What delegated agents wait for. */
  readonly delegated: DelegatedQuestions;
  /** What delegated agents may spend. */
  readonly budgets = new TaskBudgets();
  /** Who sees which. */
  readonly visibility: ConversationVisibility;
  readonly #filled: FilledConversations;
  readonly #waking: WakingConversations;
  /** What may run without a person. */
  readonly approvals: ConversationApprovals;
  /** Which are deleted, and which are not. */
  readonly ends: ErasedConversations;
  /** To this server and from it. */
  readonly moving: MovingConversations;

  constructor(options: ConversationsOptions) {
    const { registry, storage, runtimes } = options;
    this.#options = options;
    this.#registry = registry;
    this.#records = registry.records;
    this.visibility = new ConversationVisibility(registry.records);
    this.#open = new OpenConversations({
      ...options,
      open: (record) => options.open(record, this),
      onClosed: (id) => this.#closed(id),
      claim: (record) => this.moving.claim(refOf(record)),
    });
    this.moving = new MovingConversations({
      scheduler: storage.scheduler,
      records: this.#records,
      open: this.#open,
      opened: registry.open,
      forget: (id) => this.#forget(id),
      releaseSandbox: options.releaseSandbox,
      wake: (ids) => this.#waking.wake(ids),
      logger: options.logger,
    });
    this.#stopped = new StoppedConversations(this.#records, this.#open, runtimes);
    this.ends = this.#ending(options);
    const places = { home: options.config.home, runtimes, logger: options.logger };
    this.agents = new ConversationAgents(this.#records, this.#open, places);
    this.approvals = new ConversationApprovals(this.#records, this.#open, options.policyOf ?? NEVER_ASKS);
    this.#filled = new FilledConversations({
      registry,
      runtimes,
      claim: (conversation) => this.moving.claim(conversation),
      place: () => this.#new.place(),
      copyWorkspace: options.copyWorkspace,
      erase: (id) => this.ends.erase(id),
      closing: this.#closing.signal,
    });
    this.#waking = new WakingConversations({
      ...options,
      records: this.#records,
      filled: this.#filled,
      stopped: this.#stopped,
      approvals: this.approvals,
      eraseRest: (id) => this.ends.eraseRest(id),
      closing: this.#closing.signal,
    });
    const copyFolder = (place: NewPlace, from: string): Promise<void> => this.#filled.copyFolder(place, from);
    const claim = (conversation: ConversationRef): Promise<void> => this.moving.claim(conversation);
    this.#new = new NewConversations(registry, {
      replays: storage.records,
      places,
      usualAgent: options.usualAgent,
      copyFolder,
      claim,
      audit: options.audit,
      refusal: async (by) => options.quotas?.refusal(partyOfCaller(by)),
    });
    this.#shared = new SharedFolders(registry, options.logger);
    this.#titles = new ConversationTitles(registry, options, this.#closing.signal);
    this.delegated = new DelegatedQuestions({ records: this.#records, open: registry.open, enter: (id) => this.enter(id) });
  }

  #ending({ storage, runtimes, config, audit, onErase }: ConversationsOptions): ErasedConversations {
    const claim = (record: StoredConversation): Promise<void> => this.moving.claim(refOf(record));
    const forget = (id: string): void => this.#forget(id);
    const parts = { records: this.#records, open: this.#open, runtimes, storage, home: config.home, audit };
    return new ErasedConversations({ ...parts, claim, forget, onErase });
  }

  /** What sandboxes ask of a person. */
  get questions(): NetworkQuestions {
    return this.#registry.questions;
  }

  /** Refused on a server that is leaving. */
  async create(params?: CreateConversationParams): Promise<CreateResult> {
    if (this.#options.draining?.isDraining) return { ok: false, error: catalogError('SERVER_DRAINING') };
    return this.#new.create(params);
  }

  /** The conversation in which another agent does a part of this one's work; the same one when it is called again for the same action. */
  async createDelegated(parent: StoredConversation, task: DelegateParams): Promise<StoredConversation> {
    const asOfNow = this.approvals.now(this.agents.now(parent));
    const made = await this.#new.delegate(asOfNow, task);
    await this.approvals.inherit(made, asOfNow, parent);
    return made;
  }

  /** The one that was created for this action; `undefined` when there is none yet. */
  findDelegated(parent: StoredConversation, task: Pick<DelegatedTask, 'actionId'>): Promise<StoredConversation | undefined> {
    return this.#new.findDelegated(parent, task);
  }

  /** In which other agents did parts of this one's work; some of them may be deleted. */
  delegatedBy(id: string): Promise<readonly string[]> {
    return this.#records.delegatedBy(id);
  }

  /** Takes the keys of a client that reconnects, its switch of the confirmation, and its model, which counts from the next opening on. */
  async configure(
    id: string,
    { llm, model, confirmationMode }: Pick<CreateConversationParams, 'llm' | 'model' | 'confirmationMode'>,
  ): Promise<void> {
    const { modelKeys } = this.#registry;
    if (confirmationMode !== undefined) await this.approvals.setSwitch(id, confirmationMode);
    const record = await this.#records.change(id, (now) => modelKeys.changes(now, { llm, model }));
    if (record && llm) modelKeys.hold(record);
  }

  /** Where its sandbox may connect to, as of now. */
  networkOf(record: StoredConversation): Promise<NetworkPolicy> {
    return this.#registry.policyOf(record);
  }

  /** From the next connection of its sandbox on. `undefined`: no such conversation. */
  async setNetwork(id: string, params: NetworkParams): Promise<CreateResult | undefined> {
    const taken = checkNetworkParams(this.networkRules, params);
    if (!taken.ok) return (await this.get(id)) && taken;
    const record = await this.#records.change(id, () => ({ network: taken.network }));
    await this.questions.policyChanged(id);
    return record && { ok: true, record };
  }

  get networkRules(): NetworkRules {
    return this.#registry.networkRules;
  }

  /** Its repository is in this sandbox. */
  async noteRepository(id: string, incarnation: string): Promise<void> {
    await this.#records.change(id, () => ({ repository_ready: incarnation }));
  }

  /** A pull request was opened in it, or in one that its agent delegated to it. */
  notePullRequest(id: string, number: number): Promise<void> {
    return this.#records.notePullRequest(id, number);
  }

  /** A conversation that has a log and a folder before there is one; see `FilledConversations`. */
  createFilled(fill: (place: NewPlace) => Promise<StoredConversation>): Promise<StoredConversation> {
    return this.#filled.create(fill);
  }

  get(id: string): Promise<StoredConversation | undefined> {
    return this.#records.get(id);
  }

  /** What is done again before the model is asked. */
  async replay(id: string): Promise<readonly ReplayAnswer[]> {
    return (await this.#options.storage.records.get<readonly ReplayAnswer[]>('replays', id)) ?? [];
  }

  /** Newest first; with `by`, what this caller sees. */
  list({ by, ...query }: PageQuery & { readonly by?: Caller }): Promise<readonly StoredConversation[]> {
    if (by?.userId === undefined) return this.#records.list(query);
    const { isMeant = () => true } = query;
    return this.#records.list({ ...query, isMeant: (record) => seesConversation(by, record) && isMeant(record) });
  }

  /** The fold of an open conversation. */
  state(id: string): ConversationState | undefined {
    return this.#open.get(id)?.conversation.state;
  }

  /** Clients that look at it now. */
  connections(id: string): number {
    return this.#open.get(id)?.leases ?? 0;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Whether a client looks at one of them, or its agent has something to do. */
  get isInUse(): boolean {
    const now = this.#options.clock.now().getTime();
    return [...this.#registry.open.values()].some((open) => !open.isIdle(now, 0));
  }

  /** The open conversation, held until `release`; `undefined` when there is no such conversation. */
  async enter(id: string): Promise<{ readonly open: OpenConversation; readonly release: () => void } | undefined> {
    return (await this.#records.get(id)) && this.#open.enter(id);
  }

  /** The log alone, for reading: nothing is opened, started or changed by it. */
  async log(id: string): Promise<EventLog | undefined> {
    return (await this.#records.get(id)) && this.#options.storage.events.open(id);
  }

  /** A client's action, wherever it came in; names the conversation after its first task. */
  async submit(id: string, given: ParsedAction, { about, by }: SubmitOptions = {}): Promise<SubmitResult> {
    const author = authorOf(by);
    const action = author ? { ...given, author } : given;
    await this.#stopped.afterStop(id);
    const held = await this.#open.enter(id);
    if (!held) return { ok: false, error: catalogError('CONVERSATION_NOT_FOUND', id) };
    try {
      // Read only now: a stop that the record does not show yet closes the conversation.
      const record = await this.#records.get(id);
      const work = record && beginsWork(action) ? workOf(record) : undefined;
      const refusal =
        (record && (await this.agents.approve(record, action, held.open.conversation))) ??
        (work && (await this.#options.quotas?.begin(work)));
      if (refusal) return { ok: false, error: refusal };
      await this.#records.mark(id);
      const starts = record?.stopped === true && startsStopped(action);
      // Before it is in the log: after a kill in between, a restart would stop what it started.
      if (starts && !(await this.#stopped.setStopped(id, held.open, false))) return await this.submit(id, given, { about, by });
      if (record && BEGINS_WORK.has(action.action)) await this.#shared.notify(record, held.open);
      const result = await held.open.conversation.submit(action, about);
      const isTaken = result.ok && !result.isRepeated;
      if (work && !isTaken && !held.open.isBusy()) this.#options.quotas?.closed(id);
      if (starts) await this.#stopped.setStopped(id, held.open, !isTaken);
      if (record && isTaken) {
        // The time of last use is written behind, so the answer does not wait for it.
        this.#records.touch(id);
        await this.#titles.nameAfter(record, action);
        await this.#options.audit?.submitted(id, action, by);
      }
      return result;
    } finally {
      held.release();
    }
  }

  /** False when there is none. */
  rename(id: string, given: string): Promise<boolean> {
    return this.#titles.rename(id, given);
  }

  /**
   * Opens it so that it takes messages, and lets the agent continue if the log says so. With `unlessStopped` a stopped conversation is
   * left as it is, and nothing is appended. False when there is none.
   */
  start(id: string, options?: { readonly unlessStopped?: boolean }): Promise<boolean> {
    return this.#stopped.start(id, options);
  }

  /** Ends the agent's work, the connections and the sandbox; what is recorded stays. `undefined`: no such conversation. */
  stop(id: string, by?: Caller): Promise<{ readonly wasRunning: boolean } | undefined> {
    return this.#stopped.stop(id, authorOf(by));
  }

  /** Removes the conversation, its log, its sandbox and the folder made for it. False when there is none. */
  delete(id: string): Promise<boolean> {
    return this.ends.delete(id);
  }

  #closed(id: string): void {
    this.#registry.modelKeys.forget(id);
    this.#options.quotas?.closed(id);
  }

  #forget(id?: string): void {
    this.#registry.modelKeys.forget(id);
    this.agents.forget(id);
    this.approvals.forget(id);
  }

  /** What a server left at work goes on, see `WakingConversations`. Called once, when the server already listens. */
  async wakeActive(): Promise<void> {
    // Beside others, it takes only what no server has.
    if (this.#options.storage.scheduler.self) return this.moving.start();
    await this.#waking.wake(await this.#records.marked());
  }

  /** Ends every loop without touching any agent's state; sandboxes stay for the next server. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.questions.close();
    await this.#open.closeAll();
    const failed = await this.#records.close().catch((cause: unknown) => ({ cause }));
    if (failed) this.#options.logger.warn({ err: failed.cause }, 'when conversations were last used could not be stored');
  }
}
