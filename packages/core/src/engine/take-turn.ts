/** The model's turn: the view of the log goes out, a complete answer comes back and is appended as one batch. */
import { isActive, type LlmMetrics } from '@tendon/protocol';
import type { EngineState } from './engine-state.ts';
import type { LlmFailure, LlmMessage, LlmProvider } from '../llm/llm-provider.ts';
import type { SourcedDraft } from '../log/event-log.ts';
import type { Tool } from '../tools/define-tool.ts';
import { MANY_PICTURES } from '../prompt/compaction.ts';
import { maxMessageChars } from '../prompt/excerpt.ts';
import { accumulateMetrics, createPlaceStatus, failed, turn, type TurnOutcome } from './turn.ts';
import { analyzeActions } from './analyze-actions.ts';
import { answerToDrafts, needsSandbox, parseAnswer, type Destination, type ParsedAnswer } from './answer-to-drafts.ts';
import { mayCondense, requestCondensation } from './condense-log.ts';
import { createDeltaFrames } from './delta-frames.ts';
import type { ViewMessages } from './view-feed.ts';
import type { HostPorts, LogPorts, LoopPorts, ModelPorts } from './ports.ts';
import { sandboxFailed } from './execute.ts';
import { offeredTools } from './external-tools.ts';
import { askBeforeActions, beginSession } from './hooks.ts';
import { stateChanged } from './notices.ts';

/** Must be called in the same tick as the decision for it, so that no request falls between. */
export async function takeTurn(ports: LoopPorts): Promise<void> {
  const signal = ports.aborts.beginTurn();
  await untilResumption(ports, signal);
  if (!(await beginSession(ports, signal))) return;
  const agent = ports.agent();
  const provider = await ports.llm().catch((error: unknown) => failed(error instanceof Error ? error.message : String(error)));
  const { messages, nextId } = await messagesFor(ports, 'failure' in provider ? undefined : provider.contextWindow, signal);
  const tools = await offeredTools({ ...ports, agent: () => agent }, signal);
  if (signal.aborted) return;
  const outcome = 'failure' in provider ? provider : await ask(ports, provider, { messages, tools, signal });
  if (outcome.type === 'aborted' || signal.aborted) return;
  if (outcome.type === 'failed') return appendFailure(ports, outcome.failure);
  await appendAnswer(ports, parseAnswer(outcome.answer, tools), { provider: provider as LlmProvider, signal, asked: { messages, nextId } });
}

/** Files that the messages refer to are written first; the messages report those that could not be written. */
async function messagesFor(
  { view, longMessages }: Pick<LogPorts, 'view' | 'longMessages'>,
  contextWindow: number | undefined,
  signal: AbortSignal,
) {
  const options = { maxMessageChars: maxMessageChars(contextWindow) };
  const shown = await view.messages(options);
  return (await longMessages.store(shown.excerpts, signal)) ? view.messages(options) : shown;
}

/** After a restart within a pause that the provider asked for, the rest of it is waited. */
async function untilResumption({ folded, clock }: Pick<LoopPorts, 'folded' | 'clock'>, signal: AbortSignal): Promise<void> {
  const { agentState, resumesAt } = folded.state.conversation;
  const pauseMs = agentState === 'rate_limited' && resumesAt ? Math.min(Date.parse(resumesAt) - clock.now().getTime(), MAX_PAUSE_MS) : 0;
  if (pauseMs > 0) await clock.sleep(pauseMs, { signal }).catch(() => undefined);
}

const MAX_PAUSE_MS = 3_600_000;

/** The loop may still say something: nobody paused, stopped or ended it while the model was thinking. */
function mayAct({ conversation, requested }: EngineState): boolean {
  return isActive(conversation.agentState) && !requested;
}

async function ask(
  ports: Pick<LoopPorts, 'folded' | 'sandbox'> & HostPorts,
  provider: LlmProvider,
  { messages, tools, signal }: { readonly messages: readonly LlmMessage[]; readonly tools: readonly Tool[]; readonly signal: AbortSignal },
): Promise<TurnOutcome> {
  const { folded } = ports;
  const frames = createDeltaFrames(folded.state.conversation.nextId, ports, signal);
  const request = { messages, tools: tools.map(({ spec }) => spec) };
  const outcome = await turn(provider, request, {
    signal,
    listener: {
      ...createPlaceStatus(ports.emit),
      onDelta: ({ part, text }) => frames.push(part, text),
      // The sandbox starts while the rest of the call is written. Who needs it asks again and hears whether it did.
      onCalling(name) {
        if (tools.some((tool) => tool.spec.name === name && tool.needsSandbox)) void ports.sandbox.acquire(signal);
      },
      async onRetry({ failure, resumesAt }) {
        frames.restart();
        ports.emit({ volatile: 'status', type: 'info', id: 'STATUS$LLM_RETRY', message: failure.error.message });
        const waiting = stateChanged('rate_limited', { reason: failure.error.message, resumesAt });
        await folded.append((state) => (mayAct(state) ? [waiting] : []));
      },
      async onFallback({ failure, from, to }) {
        frames.restart();
        const reason = `${to} answers in place of ${from}: ${failure.error.message}`;
        ports.emit({ volatile: 'status', type: 'info', id: 'STATUS$LLM_RETRY', message: reason });
        const standsIn = stateChanged('running', { reason, content: reason });
        await folded.append((state) => (mayAct(state) && state.conversation.reason !== reason ? [standsIn] : []));
      },
      async onResume() {
        await folded.append(resumed);
      },
    },
  });
  frames.end();
  return outcome;
}

/** A state of waiting for the provider ends with its next sign of life. */
function resumed(state: EngineState): readonly SourcedDraft[] {
  return state.conversation.agentState === 'rate_limited' && !state.requested ? [stateChanged('running')] : [];
}

/** The model that had been stood in for answers again. */
function ownAnswer(state: EngineState): readonly SourcedDraft[] {
  const { agentState, reason } = state.conversation;
  return agentState === 'running' && reason !== '' && !state.requested ? [stateChanged('running')] : resumed(state);
}

/** What clients show is the state's reason: the id where they have words for it, else ours. */
async function appendFailure({ folded, emit }: Pick<LoopPorts, 'folded' | 'emit'>, { error }: LlmFailure): Promise<void> {
  // What was too long is shortened and tried again, as long as there is something to leave out.
  if (error.code === 'LLM_CONTEXT_EXCEEDED' && mayCondense(folded.state, { isUrgent: true })) {
    await folded.append((state) => (mayAct(state) ? [requestCondensation] : []));
    return;
  }
  const reason = error.messageId === 'STATUS$ERROR' ? error.message : error.messageId;
  emit({ volatile: 'status', type: 'error', id: error.messageId, message: error.message });
  await folded.append((state) => (mayAct(state) ? [stateChanged('error', { reason, content: error.message })] : []));
}

async function appendAnswer(
  ports: ModelPorts & Pick<LoopPorts, 'folded' | 'sandbox' | 'clock'>,
  parsed: ParsedAnswer,
  {
    provider,
    signal,
    asked: { messages, nextId: seen },
  }: { readonly provider: LlmProvider; readonly signal: AbortSignal; readonly asked: Pick<ViewMessages, 'messages' | 'nextId'> },
): Promise<void> {
  const destination = needsSandbox(parsed) ? await findDestination(ports, signal) : undefined;
  const hooked = await askBeforeActions(ports, parsed, signal);
  const analyzed = await analyzeActions(ports, parsed, { destination, hooked, signal });
  if (signal.aborted) return;
  const { maxBudgetUsd } = ports.limits;
  const { contextWindow } = provider;
  const now = ports.clock.now();
  const hasManyPictures = picturesIn(messages) >= MANY_PICTURES;
  await ports.folded.append((state) => {
    if (!mayAct(state)) return [];
    const lead = [...(parsed.answer.model === provider.model ? ownAnswer(state) : resumed(state)), ...hooked.notices, ...analyzed.notices];
    const before = analyzed.spent.reduce<LlmMetrics | undefined>((metrics, add) => add(metrics), state.metrics);
    const metrics = accumulateMetrics(before, parsed.answer, { maxBudgetUsd, contextWindow });
    const firstId = state.conversation.nextId + lead.length;
    const steered = state.conversation.lastUserMessageId >= seen;
    const hasChecks = ports.limits.finishChecks.length > 0 || ports.limits.hasStopHooks === true;
    const judged = { policy: ports.policy, verdicts: hooked.verdicts, risks: analyzed.risks };
    const about = { firstId, ...judged, shell: state.shell, destination, steered, metrics, now, hasChecks };
    const answer = answerToDrafts(parsed, about);
    const failure = destination && 'failure' in destination ? [sandboxFailed(destination.failure)] : [];
    const { condenses, condensesAfter = Infinity } = ports.limits;
    const isEnough = hasManyPictures || isNearlyFull(metrics, contextWindow) || firstId - 1 - state.condensation.end >= condensesAfter;
    const condensed = isEnough && condenses && mayCondense(state);
    return [...lead, ...answer, ...failure, ...(condensed ? [requestCondensation] : [])];
  });
}

/** In results; the user's own stay in any case. */
function picturesIn(messages: readonly LlmMessage[]): number {
  return messages.reduce((sum, message) => sum + (message.role === 'tool' ? (message.imageUrls?.length ?? 0) : 0), 0);
}

/** Four fifths of what the model can take: the next observations need space. */
function isNearlyFull({ accumulated_token_usage: tokens }: LlmMetrics, contextWindow: number | undefined): boolean {
  return contextWindow !== undefined && (tokens?.per_turn_token ?? 0) > 0.8 * contextWindow;
}

/** The sandbox is acquired before its actions are appended: what is in the log without a destination never started. */
async function findDestination({ sandbox }: Pick<LoopPorts, 'sandbox'>, signal: AbortSignal): Promise<Destination> {
  const acquired = await sandbox.acquire(signal);
  return acquired.ok ? { executor: acquired.runtime.incarnation } : { failure: acquired.reason };
}
