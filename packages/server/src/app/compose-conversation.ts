/** What a conversation is put together from, each time it is opened. */
import {
  openConversation,
  spentOf,
  withStream,
  type Agent,
  type Conversation,
  type ConversationSettings,
  type EventLog,
  type ExternalTools,
  type KeyedSemaphore,
  type LlmProvider,
  type Runtimes,
} from '@tendon/core';
import { isActive } from '@tendon/protocol';
import type { Dial, SandboxPool } from '@tendon/runtime';
import type { Foundation } from './open-stores.ts';
import { hasRemoteSandboxes, type ConversationConfig } from '../platform/config/config.ts';
import type { ConversationRegistry } from '../conversations/conversation-registry.ts';
import { workOf, type StoredConversation } from '../conversations/conversation-records.ts';
import type { Conversations } from '../conversations/conversations.ts';
import { agentOf, mayDelegate } from '../conversations/agents/agent-of.ts';
import type { TaskBudgets } from '../conversations/delegated/task-budget.ts';
import { IsolatedCopies } from '../conversations/delegated/isolated-copies.ts';
import { delegation } from '../conversations/delegated/delegation.ts';
import type { fairTurns } from '../conversations/fair-turns.ts';
import { partyOf } from '../limits/party.ts';
import type { Quotas } from '../limits/quotas.ts';
import type { Measures } from '../observability/measures.ts';
import { observeConversation, type ConversationObserver } from '../observability/observe-conversation.ts';
import type { Tracing } from '../observability/tracing/tracing.ts';
import type { LoopWatch } from '../platform/loop-watch.ts';
import { conversationHooks } from '../extensions/conversation-hooks.ts';
import { CustomTools } from '../extensions/custom-tools.ts';
import { enabledPlugins } from '../extensions/installed-plugins.ts';
import { toolFolders } from '../extensions/installed-tools.ts';
import { conversationTools } from '../mcp/conversation-tools.ts';
import { knowledgeSources } from '../knowledge/knowledge-sources.ts';
import type { Pushes } from '../push/pushes.ts';
import { replayThen } from '../replay/replay-then.ts';
import { committerOf, repositoryOf } from '../git/repository/repository-of.ts';
import type { EventSearch } from '../events/event-search.ts';
import { searchPast } from '../events/search-past.ts';
import { fetchBy } from '../conversations/network/fetch-by.ts';
import { type ModelChoice, modelSource } from '../settings/model-choice.ts';
import type { GitAccounts } from '../git-providers/provider-tokens.ts';
import type { SecretView } from '../secrets/secret-store.ts';
import { namedSecrets } from '../secrets/secrets-for-action.ts';
import { invariantAnalyzer } from '../conversations/confirmation/invariant-analyzer.ts';
import { confirmationIn } from '../conversations/confirmation/confirmation-in.ts';
import type { SettingsStore } from '../settings/settings.ts';

/** Frontends send it unasked; a user who wants the history shortened by its length sets another. */
const USUAL_CONDENSER_SIZE = 120;

/** What stands between the engine and what it drives: tests put faults there. */
export interface Around {
  readonly log?: (log: EventLog) => EventLog;
  readonly runtimes?: (runtimes: Runtimes) => Runtimes;
}

/** How the turns of all conversations share models and the event loop. */
interface TurnPorts {
  /** The models that it asks, as of now: for its turns, and for what needs less. */
  readonly chooses: (record: StoredConversation) => { readonly model: ModelChoice; readonly small: ModelChoice };
  /** Limits requests to models by endpoint and key; all conversations share it. */
  readonly places: KeyedSemaphore;
  /** What everybody may use, and whose turn it is. */
  readonly quotas: Quotas;
  /** Agents of all conversations begin their turns in order. */
  readonly fairly: ReturnType<typeof fairTurns>;
  readonly loop: LoopWatch;
  readonly measures: Measures;
  readonly tracing: Tracing | undefined;
}

/** What it is given of secrets and tokens: the server's, its organisation's, and those of who began it. */
interface OwnParts {
  readonly secretStore: SecretView;
  readonly providerTokens: GitAccounts;
}

export interface ConversationParts extends Omit<Foundation, keyof OwnParts>, OwnParts, TurnPorts {
  readonly runtimes: SandboxPool;
  readonly conversations: Conversations;
  readonly eventSearch: EventSearch;
  readonly registry: Pick<ConversationRegistry, 'sayProblem' | 'records'>;
  readonly around: Around;
  readonly pushes: Pick<Pushes, 'watched'>;
}

export async function composeConversation(record: StoredConversation, parts: ConversationParts): Promise<Conversation> {
  const { config, clock, logger, mask, storage, runtimes, settings, conversations, around } = parts;
  const { chooses, places, traits, fairly, loop, quotas } = parts;
  const work = workOf(record);
  quotas.opened(work);
  parts.modelKeys.open(record);
  const onProblem = (sentence: string): void => parts.registry.sayProblem(record.id, sentence);
  const log = await storage.events.open(record.id);
  const report = (cause: unknown): void => {
    logger.error({ err: cause, conversation: record.id }, 'the engine could not go on');
    conversations.moving.lost(record.id, cause);
  };
  const opening = Promise.withResolvers<Conversation>();
  let opened: Conversation | undefined;
  const observer = observeConversation(record, parts.measures, parts.tracing);
  const observed = observer.runtimes(around.runtimes?.(runtimes) ?? runtimes);
  const own = repositoryOf(observed, record, { ...parts, opened: opening.promise });
  const shared = { clock, places, traits, observer, party: work.party.name, dial: () => runtimes.dialAs(record.id) };
  const make = async (choice: ModelChoice, isOutdated: () => boolean) =>
    quotas.charged(record, await makeProvider(choice, { ...shared, isOutdated }));
  const isWorking = () => opened !== undefined && isActive(opened.state.agentState);
  const admitted = (source: () => Promise<LlmProvider>) => async () => quotas.running.admitted(work, await source(), isWorking);
  const others = mayDelegate(record, config) ? await conversations.agents.own() : [];
  const agentNow = (): Agent => withInstructions(agentOf(conversations.agents.now(record), config, others), record.instructions);
  const metered = (source: () => Promise<LlmProvider>) => conversations.budgets.metered(record.id, source);
  const choice = () => chooses(conversations.agents.now(record));
  const replayed = replayThen(
    await conversations.replay(record.id),
    log,
    modelSource(() => choice().model, make),
  );
  const chosen = conversationSettings(settings, record, config);
  const conversation: Conversation = await openConversation({
    id: record.id,
    log: parts.pushes.watched(record.id, quotas.running.watched(work, observer.log(around.log?.(log) ?? log))),
    agent: agentNow(),
    agentNow,
    sandbox: { runtimes: own, prepares: typeof record.selected_repository === 'string' },
    llm: fairly(admitted(metered(marked(replayed, loop)))),
    smallLlm: metered(modelSource(() => choice().small, make)),
    extensions: await extensionsOf(record, { ...parts, own, onProblem, log }),
    settings: {
      ...affordable(
        record.delegated_by ? drawn(chosen, () => opened, conversations.budgets) : chosen,
        () => opened,
        () => quotas.leftUsd(work.party),
      ),
      confirmation: await confirmationIn(record, parts),
    },
    host: { clock, mask, report },
  });
  opened = conversation;
  opening.resolve(conversation);
  return conversation;
}

type ExternalParts = ConversationParts & { readonly own: Runtimes; readonly onProblem: (sentence: string) => void };

/** What an agent may use beside its sandbox, and knows beside its task. */
async function extensionsOf(
  record: StoredConversation,
  { log, own, onProblem, ...parts }: ExternalParts & { readonly log: EventLog },
): Promise<NonNullable<Parameters<typeof openConversation>[0]['extensions']>> {
  const { config, clock, logger, mask, conversations } = parts;
  // Another agent that does a part of the work knows only its task.
  const notes = record.delegated_by || !config.tools.includes('note') ? undefined : parts.notes.of(record);
  return {
    ...(mayDelegate(record, config) && {
      delegate: delegation(conversations, record, { clock, copies: copiesOf(record, own, parts), isUnattended: config.isUnattended }),
    }),
    ...(!record.delegated_by && { past: searchPast(record, { ...parts, conversations }) }),
    external: await externalTools(record, { ...parts, own, onProblem }),
    hooks: await conversationHooks(record.id, { ...parts, home: config.home, onProblem }),
    ...(config.invariantUrl && {
      invariant: invariantAnalyzer({ url: config.invariantUrl, conversationId: record.id, log, mask }),
    }),
    ...(notes && { notes: notes.take }),
    knowledge: {
      ...knowledgeSources(record.id, { ...parts, home: config.home, onProblem: (problem) => logger.warn(problem) }),
      ...(notes && { notes: notes.read }),
    },
  };
}

/** Of the user, of plugins, of MCP servers, and those that open pull requests. */
async function externalTools(record: StoredConversation, parts: ExternalParts): Promise<ExternalTools> {
  const { config, conversations, toolFiles: files, secretStore, providerTokens, onProblem } = parts;
  const plugins = await enabledPlugins(config.home);
  const workspace = hasRemoteSandboxes(config.runtime) ? {} : { workspace: record.workspace };
  const custom = new CustomTools({
    files,
    folders: toolFolders(config.home, plugins),
    context: { conversationId: record.id, ...workspace },
    secrets: () => namedSecrets(secretStore, providerTokens),
    onProblem,
  });
  return conversationTools(record, { ...parts, custom, plugins, isAttended: () => conversations.questions.isAttended(record.id) });
}

/** None where the sandbox is no boundary for git, or on another host, where a workspace is not copied. */
function copiesOf(parent: StoredConversation, own: Runtimes, parts: ConversationParts): IsolatedCopies | undefined {
  const { config, settings, clock, runtimes: pool } = parts;
  if (config.runtime === 'none' || hasRemoteSandboxes(config.runtime)) return undefined;
  const committer = () => committerOf(settings);
  return new IsolatedCopies({ parent, own, pool, records: parts.registry.records, clock, committer, home: config.home });
}

/** Only a small model that was chosen is asked for titles: it is a request that nobody else asked for. */
export async function askTitle(
  record: StoredConversation,
  task: string,
  signal: AbortSignal,
  {
    chooses,
    runtimes,
    measures,
    quotas,
    ...shared
  }: Pick<ConversationParts, 'chooses' | 'runtimes' | 'clock' | 'places' | 'traits' | 'measures' | 'quotas'>,
): Promise<string | undefined> {
  const { model, small } = chooses(record);
  if (small === model) return undefined;
  const { titleByModel } = await import('../conversations/title-by-model.ts');
  const observer = observeConversation(record, measures);
  const party = partyOf(record).name;
  const provider = await makeProvider(small, { ...shared, observer, party, dial: () => runtimes.dialAs(record.id) });
  return titleByModel(quotas.charged(record, provider), task, signal);
}

type ChosenLimits = Omit<ConversationSettings, 'maxIterations' | 'maxBudgetUsd'> & { maxIterations?: number; maxBudgetUsd?: number };

/** As they are when the conversation is opened: its own parameters, the stored settings, the configuration. */
function conversationSettings({ current }: SettingsStore, record: StoredConversation, config: ConversationConfig): ChosenLimits {
  const maxIterations = record.max_iterations ?? current?.max_iterations ?? config.maxIterations;
  const isChosen = current?.condenser_max_size && current.condenser_max_size !== USUAL_CONDENSER_SIZE;
  const maxBudgetUsd = record.max_budget_usd ?? current?.max_budget_per_task ?? config.maxBudgetUsd;
  return {
    ...(maxIterations && { maxIterations }),
    condenses: current?.enable_default_condenser ?? true,
    ...(isChosen && { condensesAfter: current.condenser_max_size! }),
    ...(maxBudgetUsd && { maxBudgetUsd }),
    ...(!record.delegated_by && { finishChecks: current?.finish_checks ?? [] }),
  };
}

/** While it works for another conversation, it may take and spend what that one has left, together with all that work for it. */
function drawn(chosen: ChosenLimits, opened: () => Conversation | undefined, budgets: TaskBudgets): ConversationSettings {
  return {
    ...chosen,
    maxIterations() {
      const { maxIterations = 500 } = chosen;
      const left = budgets.leftTo(opened()?.id ?? '');
      return left ? Math.min(maxIterations, left.steps + left.leftSteps) : maxIterations;
    },
    maxBudgetUsd() {
      const conversation = opened();
      const left = budgets.leftTo(conversation?.id ?? '')?.leftUsd;
      const { metrics } = conversation?.state ?? {};
      return left === undefined ? chosen.maxBudgetUsd : (metrics ? spentOf(metrics) : 0) + left;
    },
  };
}

/** No more than those whose work it is may still spend. */
function affordable(
  chosen: ConversationSettings,
  opened: () => Conversation | undefined,
  leftUsd: () => number | undefined,
): ConversationSettings {
  const { maxBudgetUsd: own } = chosen;
  return {
    ...chosen,
    maxBudgetUsd() {
      const [most, left] = [typeof own === 'function' ? own() : own, leftUsd()];
      if (left === undefined) return most;
      const { metrics } = opened()?.state ?? {};
      return Math.min(most ?? Infinity, (metrics ? spentOf(metrics) : 0) + left);
    },
  };
}

/** What an answer is made into is computed when it is complete, so the watch of the event loop is notified of that too. */
function marked(source: () => Promise<LlmProvider>, loop: LoopWatch): () => Promise<LlmProvider> {
  return async () => {
    loop.begun('a turn of an agent');
    const provider = await source();
    return withStream(provider, async function* (request, options) {
      for await (const event of provider.stream(request, options)) {
        if (event.type === 'done') loop.begun('an answer of a model');
        yield event;
      }
    });
  };
}

interface ProviderParts extends Pick<ConversationParts, 'clock' | 'places' | 'traits'> {
  /** For whom it asks. */
  readonly party: string;
  readonly observer: ConversationObserver;
  readonly dial: () => Dial;
  /** Another model is chosen by now. */
  readonly isOutdated?: () => boolean;
}

/** With another model behind it, one that fails is not waited for as long: three attempts, and no pause of more than a minute. */
const IMPATIENT = { maxAttempts: 3, maxRetryAfterMs: 60_000 };

/** The packages of providers are loaded by the first request to a model. */
async function makeProvider(choice: ModelChoice, parts: ProviderParts): Promise<LlmProvider> {
  return parts.observer.model(await makeUnobserved(choice, parts));
}

async function makeUnobserved(choice: ModelChoice, parts: ProviderParts): Promise<LlmProvider> {
  const { clock, places, traits, dial, observer, party, isOutdated } = parts;
  const { createLlmProvider, withFallback, withRetries } = await import('@tendon/core/llm');
  const { isOperators, isPoliced, fallback, ...asked } = choice;
  const shared = { clock, places, traits, party };
  const fetch = observer.fetch(isPoliced ? fetchBy(dial()) : globalThis.fetch);
  const first = createLlmProvider({ ...asked, ...shared, fetch, allowScripts: isOperators });
  const retries = { clock, random: Math.random, ...(isOutdated && { isOutdated }) };
  if (!fallback) return withRetries(first, retries);
  const { isOperators: isNamedByOperator, ...second } = fallback;
  const other = createLlmProvider({
    ...second,
    ...shared,
    fetch: observer.fetch(globalThis.fetch),
    effort: asked.effort,
    allowScripts: isNamedByOperator,
  });
  return withFallback(withRetries(first, { ...retries, ...IMPATIENT }), withRetries(other, retries), { clock });
}

/** The agent, with the instructions that the conversation was created with. */
function withInstructions(agent: Agent, instructions: string | undefined): Agent {
  if (!instructions?.trim()) return agent;
  return {
    ...agent,
    systemPrompt: (context) =>
      `${agent.systemPrompt(context)}\n\n<CONVERSATION_INSTRUCTIONS>\n${instructions}\n</CONVERSATION_INSTRUCTIONS>`,
  };
}
