/**
 * Opens a conversation: its log, the fold, and the one loop that may run on it. It owns the loop and the watchers;
 * the log, the sandbox and the provider belong to those who passed them in.
 *
 * Invariants
 * OC1  At most one loop runs; a wake during its last decision starts another.
 * OC2  Every `submit` resolves, with the first event it appended or a catalogued error.
 * OC3  Closing appends nothing and cancels nothing in the sandbox: another process may go on from the log.
 */
import {
  isActive,
  isRunnable,
  SystemAction,
  type ConversationState,
  type DeltaFrame,
  type ParsedAction,
  type VolatileFrame,
} from '@tendon/protocol';
import { Mutex } from '@tendon/protocol/async';
import type { Mask } from '@tendon/protocol/masking';
import type { Agent } from '../agents/agent.ts';
import type { Clock } from '../async/clock.ts';
import { createLibrary, type KnowledgeSources } from '../knowledge/library.ts';
import type { LlmProvider } from '../llm/llm-provider.ts';
import type { EventLog, SourcedDraft } from '../log/event-log.ts';
import { createAborts } from '../engine/aborts.ts';
import type { LoopPorts } from '../engine/ports.ts';
import { runLoop } from '../engine/loop.ts';
import { createModelAnalyzer } from '../engine/model-analyzer.ts';
import { nextStep, type LoopLimits } from '../engine/next-step.ts';
import { LongMessages } from '../engine/long-messages.ts';
import { createViewFeed } from '../engine/view-feed.ts';
import { engineError, stateChanged } from '../engine/notices.ts';
import { createConfirmationPolicy, type ConfirmationSettings } from '../policy/confirmation-policy.ts';
import type { RunnableAction, Runtimes } from '../sandbox/runtime.ts';
import { WORKSPACE } from '../prompt/excerpt.ts';
import type { Conversation, SubmitResult } from './conversation.ts';
import { FrameWatchers } from './frame-watchers.ts';
import type { EngineState } from '../engine/engine-state.ts';
import { storeSnapshots } from '../engine/store-snapshots.ts';
import { openFold } from '../engine/open-fold.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { carryOut, halt } from './submit/run-for-user.ts';
import { expire, waitingAction } from './submit/request-state.ts';
import { judgeAgain } from './submit/judge-again.ts';
import { submit } from './submit/submit.ts';
import { WriteRetry } from '../engine/write-retry.ts';
import type { Hooks, RiskAnalyzer, Delegate, SearchPast, TakeNote, ExternalTools } from '../engine/host-capabilities.ts';

export interface ConversationSettings {
  /** Which actions wait for a person, as of now; default: none. */
  readonly confirmation?: () => ConfirmationSettings;
  /** Answers of the model since the last message from the user; default 500. A function gives it as of now. */
  readonly maxIterations?: number | (() => number | undefined);
  /** US dollars for the whole conversation; default no limit. A function gives it as of now. */
  readonly maxBudgetUsd?: number | (() => number | undefined);
  /** Whether the older part is put into words before the model's window is full; default true. When it is full that is done in any case. */
  readonly condenses?: boolean;
  /** So many events that are shown whole are enough, whatever the window; default: the window alone decides. */
  readonly condensesAfter?: number;
  /** Commands that must pass before the agent's task counts as finished; default: none. */
  readonly finishChecks?: readonly string[];
  /** After so many events the fold is stored anew; see store-snapshots.ts. */
  readonly snapshotEvery?: number;
}

/** Where the conversation's actions run. */
interface SandboxOptions {
  readonly runtimes: Runtimes;
  /** A sandbox that is new is made ready at once, e.g. a repository cloned into it. Default: nothing starts before it is needed. */
  readonly prepares?: boolean;
}

/** What the agent is given beside its own tools. */
interface ExtensionOptions {
  /** With it, offer the tool `delegate`. Default: nobody can be asked. */
  readonly delegate?: Delegate;
  /** With it, offer the tool `recall`. Default: there is nothing to search. */
  readonly past?: SearchPast;
  /** With it, offer the tool `note`. Default: nothing is remembered. */
  readonly notes?: TakeNote;
  /** Offered to the model beside the agent's tools; owned by the conversation. Default: none. */
  readonly external?: ExternalTools;
  /** Programs that are asked what may be done. Default: none. */
  readonly hooks?: Hooks;
  /** The analyzer of that name. Default: it cannot be asked. */
  readonly invariant?: RiskAnalyzer;
  /** What the agent knows beside the files of the workspace. */
  readonly knowledge?: KnowledgeSources;
}

/** What the surrounding process gives. */
interface HostOptions {
  readonly clock: Clock;
  readonly mask: Mask;
  /** Given what failed beyond the conversation's own means, e.g. the storage; default: it is not reported. */
  readonly report?: (error: unknown) => void;
}

/** Who works in the conversation, and by which model. */
interface AgentOptions {
  /** Who introduces itself. */
  readonly agent: Agent;
  /** The agent of the next turn; default: always the first. */
  readonly agentNow?: () => Agent;
  /** Asked at each turn. Rejects with an Error whose message can be shown. */
  readonly llm: () => Promise<LlmProvider>;
  /** For what needs less than a turn; default: `llm`. */
  readonly smallLlm?: () => Promise<LlmProvider>;
}

export interface OpenConversationOptions extends AgentOptions {
  readonly id: string;
  readonly log: EventLog;
  readonly sandbox: SandboxOptions;
  readonly extensions?: ExtensionOptions;
  readonly settings: ConversationSettings;
  readonly host: HostOptions;
}

/** Resolves when the conversation can take a message; rejects with the storage's error. `wake` is the caller's to call. */
export async function openConversation(options: OpenConversationOptions): Promise<Conversation> {
  const { id, log, agent } = options;
  const watchers = new FrameWatchers();
  const { ports, storedTo } = await openPorts(options, watchers.emit);
  const { folded, view, report } = ports;
  folded.onEvent(watchers.settle);
  const snapshots = storeSnapshots({ log, folded, view, storedTo, every: options.settings.snapshotEvery, report });
  const conversation = new OpenConversation(id, { ports, watchers, snapshots, confirmation: options.settings.confirmation ?? NEVER_ASKS });
  const isNew = log.nextId === 0;
  await folded.tryAppend((state) => openingDrafts(state, agent));
  if ((isNew && options.sandbox.prepares) || isActive(folded.state.conversation.agentState)) ports.library.warm();
  return conversation;
}

async function openPorts(
  options: OpenConversationOptions,
  emit: LoopPorts['emit'],
): Promise<{ readonly ports: LoopPorts; readonly storedTo: number }> {
  const { id, log, agent, extensions: { delegate, past, notes, external, hooks, invariant, knowledge = {} } = {} } = options;
  const { clock, mask, report = () => undefined } = options.host;
  const agentNow = options.agentNow ?? ((): Agent => agent);
  const aborts = createAborts();
  const retry = new WriteRetry({ clock, closing: aborts.closing, emit, report });
  const { folded, outline, storedTo } = await openFold(log, agent, { mask, retry });
  const sandbox = createSandbox(id, options.sandbox.runtimes, { emit, isReadOnly: () => agentNow().isReadOnly === true });
  const smallLlm = options.smallLlm ?? options.llm;
  const limits = limitsOf(options.settings, hooks);
  const ports: LoopPorts = {
    log,
    folded,
    retry,
    view: createViewFeed({ agent: agentNow, log, folded }, outline),
    longMessages: new LongMessages({ log, folded, sandbox }),
    agent: agentNow,
    llm: options.llm,
    smallLlm,
    sandbox,
    library: createLibrary({ sandbox, agent: () => agentNow().name, sources: knowledge, clock, closing: aborts.closing, report }),
    delegate,
    past,
    notes,
    external,
    executing: new Mutex(),
    holding: new Mutex(),
    policy: createConfirmationPolicy(options.settings.confirmation ?? NEVER_ASKS),
    analyzers: { model: createModelAnalyzer({ llm: smallLlm, limits, emit, mask }), ...(invariant && { invariant }) },
    hooks,
    limits,
    clock,
    mask,
    aborts,
    emit,
    report,
    dispatched: new Map(folded.state.conversation.pending.map(({ id: pending, executor }) => [pending, executor])),
  };
  return { ports, storedTo };
}

const NEVER_ASKS = (): ConfirmationSettings => ({ mode: 'never', rules: [], analyzer: 'rules' });

function limitsOf(settings: ConversationSettings, hooks: Hooks | undefined): LoopLimits {
  const { condenses = true, condensesAfter, finishChecks = [] } = settings;
  return {
    get maxIterations() {
      return asOfNow(settings.maxIterations) ?? 500;
    },
    get maxBudgetUsd() {
      return asOfNow(settings.maxBudgetUsd);
    },
    condenses,
    condensesAfter,
    finishChecks,
    get hasStopHooks() {
      return hooks?.has('stop') ?? false;
    },
  };
}

function asOfNow(limit: number | (() => number | undefined) | undefined): number | undefined {
  return typeof limit === 'function' ? limit() : limit;
}

interface ConversationParts {
  readonly ports: LoopPorts;
  readonly watchers: FrameWatchers;
  readonly snapshots: ReturnType<typeof storeSnapshots>;
  readonly confirmation: () => ConfirmationSettings;
}

class OpenConversation implements Conversation {
  readonly id: string;
  readonly log: EventLog;
  readonly #ports: LoopPorts;
  readonly #watchers: FrameWatchers;
  readonly #snapshots: ConversationParts['snapshots'];
  readonly #confirmation: ConversationParts['confirmation'];
  /** Actions that a process before this one left unanswered. */
  readonly #inherited: ReadonlySet<number>;
  /** `opened`: nothing woke it yet. */
  #state: 'opened' | 'resting' | 'looping' = 'opened';
  #loop = Promise.resolve();
  /** The action whose decision has a deadline; aborting it ends the wait. */
  #deadline: { readonly id: number; readonly ended: AbortController } | undefined;
  /** A decision that came in time counts, though the sandbox that it needs is still starting when the time is over. */
  #requests: Promise<unknown> = Promise.resolve();

  constructor(id: string, { ports, watchers, snapshots, confirmation }: ConversationParts) {
    this.id = id;
    this.log = ports.log;
    this.#ports = ports;
    this.#watchers = watchers;
    this.#snapshots = snapshots;
    this.#confirmation = confirmation;
    this.#inherited = new Set(ports.dispatched.keys());
  }

  get state(): ConversationState {
    return this.#ports.folded.state.conversation;
  }

  get isAtWork(): boolean {
    return (
      this.#state === 'looping' || this.#deadline !== undefined || nextStep(this.#ports.folded.state, this.#ports.limits).do !== 'rest'
    );
  }

  async submit(action: ParsedAction, about?: number): Promise<SubmitResult> {
    const submitted = submit(this.#ports, action, about);
    if (action.action === 'change_agent_state') this.#requests = Promise.all([this.#requests, submitted]);
    const result = await submitted;
    this.wake();
    return result;
  }

  async reopen(): Promise<void> {
    await this.note(() => (this.state.agentState === 'stopped' ? [stateChanged('loading'), stateChanged('awaiting_user_input')] : []));
  }

  async note(drafts: (firstId: number) => readonly SourcedDraft[]): Promise<void> {
    const { aborts, folded } = this.#ports;
    if (aborts.closing.aborted) return;
    await folded.append(({ conversation }) => drafts(conversation.nextId));
  }

  async judgeAgain(notice: SourcedDraft): Promise<boolean> {
    const judged = judgeAgain(this.#ports, notice);
    this.#requests = Promise.allSettled([this.#requests, judged]);
    const isReported = await judged;
    this.wake();
    return isReported;
  }

  get partialAnswer(): readonly DeltaFrame[] {
    return this.#watchers.partialAnswer;
  }

  watch(listener: (frame: VolatileFrame) => void): () => void {
    return this.#watchers.watch(listener, new Set(this.state.pending.map((action) => action.id)));
  }

  wake(): void {
    if (this.#state === 'opened') this.#resumeForUser();
    const { aborts } = this.#ports;
    if (this.#state === 'looping' || aborts.closing.aborted || aborts.isLeaving) return;
    this.#state = 'looping';
    const onRest = (): void => {
      this.#state = 'resting';
      this.#watchDeadline();
    };
    this.#loop = runLoop(this.#ports, onRest).catch((error: unknown) => halt(this.#ports, error));
  }

  /** It is at work until then, so it stays in memory, and a restarted server opens it again. */
  #watchDeadline(): void {
    const { folded, clock, aborts, report } = this.#ports;
    const { deadlineMs } = this.#confirmation();
    const waiting = waitingAction(folded.state);
    if (this.#deadline?.id === waiting?.id) return;
    this.#deadline?.ended.abort();
    this.#deadline = undefined;
    if (!waiting || deadlineMs === undefined || aborts.closing.aborted) return;
    const deadline = { id: waiting.id, ended: new AbortController() };
    this.#deadline = deadline;
    const signal = AbortSignal.any([deadline.ended.signal, aborts.closing]);
    const leftMs = Date.parse(waiting.timestamp) + deadlineMs - clock.now().getTime();
    const expired = async (): Promise<void> => {
      await clock.sleep(Math.max(0, leftMs), { signal });
      await this.#requests;
      if (signal.aborted) return;
      await folded.append((state) => expire(state, waiting.id, deadlineMs));
      if (this.#deadline === deadline) this.#deadline = undefined;
      this.wake();
    };
    expired().catch((error: unknown) => {
      if (signal.aborted) return;
      if (this.#deadline === deadline) this.#deadline = undefined;
      report(error);
    });
  }

  /** The user's own actions among those that were left unanswered. */
  #resumeForUser(): void {
    this.#state = 'resting';
    for (const action of this.state.pending) {
      if (this.#inherited.has(action.id) && action.source === 'user' && isRunnable(action.action))
        carryOut(this.#ports, action as RunnableAction);
    }
  }

  async close(deadline?: AbortSignal): Promise<void> {
    const { aborts, executing, holding, external, view } = this.#ports;
    if (deadline) await aborts.leave(deadline);
    aborts.close();
    await this.#loop;
    // What is executing ends its wait now.
    await Promise.all([executing, holding].map((each) => each.run(() => undefined)));
    await external?.close();
    await this.#snapshots.close();
    view.close();
    this.#watchers.clear();
  }
}

/** A new conversation introduces itself. */
function openingDrafts({ conversation: { agentState, nextId }, context }: EngineState, agent: Agent): readonly SourcedDraft[] {
  if (agentState !== 'loading') return [];
  const first = nextId === 0 ? [stateChanged('loading')] : [];
  return [...first, ...(context.hasSystem ? [] : introduce(agent)), stateChanged('awaiting_user_input')];
}

function introduce(agent: Agent): readonly SourcedDraft[] {
  const tools = agent.tools.map(({ spec }) => ({ type: 'function', function: spec }));
  const content = agent.systemPrompt({ workspace: WORKSPACE });
  const prompt = SystemAction.create({ content, tools, agent_class: agent.name, openhands_version: '0.62.0' });
  return [{ source: 'agent', ...prompt }, ...(agent.notice === undefined ? [] : [engineError(agent.notice, 'AGENT_ERROR$UNKNOWN_AGENT')])];
}
