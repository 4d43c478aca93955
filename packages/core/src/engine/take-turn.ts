/** The model's turn: the view of the log goes out, a complete answer comes back and is appended as one batch. */
import { isActive, type LlmMetrics } from '@tendon/protocol';
import type { EngineState } from './engine-state.ts';
import type { LlmFailure, LlmMessage, LlmProvider } from '../llm/llm-provider.ts';
import type { SourcedDraft } from '../log/event-log.ts';
import type { Tool } from '../tools/define-tool.ts';
import { maxMessageChars } from '../prompt/excerpt.ts';
import { accumulateMetrics, createPlaceStatus, failed, turn, type TurnOutcome } from './turn.ts';
import { answerToDrafts, needsSandbox, parseAnswer, type Destination, type ParsedAnswer } from './answer-to-drafts.ts';
import { forgettable, requestCondensation } from './condense-log.ts';
import { createDeltaFrames } from './delta-frames.ts';
import type { Engine } from './engine.ts';
import { sandboxFailed } from './execute.ts';
import { stateChanged } from './notices.ts';

/** Must be called in the same tick as the decision for it, so that no request falls between. */
export async function takeTurn(engine: Engine): Promise<void> {
  const signal = engine.aborts.beginTurn();
  await untilResumption(engine, signal);
  const provider = await engine.llm().catch((error: unknown) => failed(error instanceof Error ? error.message : String(error)));
  const { messages, nextId } = await messagesFor(engine, 'failure' in provider ? undefined : provider.contextWindow, signal);
  const tools = [...engine.agent.tools, ...((await engine.outside?.offered({ signal })) ?? [])];
  if (signal.aborted) return;
  const outcome = 'failure' in provider ? provider : await ask(engine, provider, { messages, tools, signal });
  if (outcome.type === 'aborted' || signal.aborted) return;
  if (outcome.type === 'failed') return appendFailure(engine, outcome.failure);
  const { contextWindow } = provider as LlmProvider;
  await appendAnswer(engine, parseAnswer(outcome.answer, tools), { contextWindow, signal, seen: nextId });
}

/** Files that the messages refer to are written first; the messages report those that could not be written. */
async function messagesFor({ view, longMessages }: Engine, contextWindow: number | undefined, signal: AbortSignal) {
  const options = { maxMessageChars: maxMessageChars(contextWindow) };
  const shown = await view.messages(options);
  return (await longMessages.store(shown.excerpts, signal)) ? view.messages(options) : shown;
}

/** After a restart within a pause that the provider asked for, the rest of it is waited. */
async function untilResumption({ folded, clock }: Engine, signal: AbortSignal): Promise<void> {
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
  engine: Engine,
  provider: LlmProvider,
  { messages, tools, signal }: { readonly messages: readonly LlmMessage[]; readonly tools: readonly Tool[]; readonly signal: AbortSignal },
): Promise<TurnOutcome> {
  const { folded } = engine;
  const frames = createDeltaFrames(folded.state.conversation.nextId, engine, signal);
  const request = { messages, tools: tools.map(({ spec }) => spec) };
  const outcome = await turn(provider, request, {
    signal,
    listener: {
      ...createPlaceStatus(engine.emit),
      onDelta: ({ part, text }) => frames.push(part, text),
      // The sandbox starts while the rest of the call is written. Who needs it asks again and hears whether it did.
      onCalling(name) {
        if (tools.some((tool) => tool.spec.name === name && tool.needsSandbox)) void engine.sandbox.acquire(signal);
      },
      async onRetry({ failure, resumesAt }) {
        frames.restart();
        engine.emit({ volatile: 'status', type: 'info', id: 'STATUS$LLM_RETRY', message: failure.error.message });
        const waiting = stateChanged('rate_limited', { reason: failure.error.message, resumesAt });
        await folded.append((state) => (mayAct(state) ? [waiting] : []));
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

/** What clients show is the state's reason: the id where they have words for it, else ours. */
async function appendFailure(engine: Engine, { error }: LlmFailure): Promise<void> {
  // What was too long is shortened and tried again, as long as there is something to leave out.
  if (error.code === 'LLM_CONTEXT_EXCEEDED' && forgettable(engine.folded.state) !== undefined) {
    await engine.folded.append((state) => (mayAct(state) ? [requestCondensation] : []));
    return;
  }
  const reason = error.messageId === 'STATUS$ERROR' ? error.message : error.messageId;
  engine.emit({ volatile: 'status', type: 'error', id: error.messageId, message: error.message });
  await engine.folded.append((state) => (mayAct(state) ? [stateChanged('error', { reason, content: error.message })] : []));
}

async function appendAnswer(
  engine: Engine,
  parsed: ParsedAnswer,
  { contextWindow, signal, seen }: { readonly contextWindow: number | undefined; readonly signal: AbortSignal; readonly seen: number },
): Promise<void> {
  const destination = needsSandbox(parsed) ? await findDestination(engine, signal) : undefined;
  if (signal.aborted) return;
  const { maxBudgetUsd } = engine.limits;
  const now = engine.clock.now();
  await engine.folded.append((state) => {
    if (!mayAct(state)) return [];
    const lead = resumed(state);
    const metrics = accumulateMetrics(state.metrics, parsed.answer, { maxBudgetUsd, contextWindow });
    const firstId = state.conversation.nextId + lead.length;
    const steered = state.conversation.lastUserMessageId >= seen;
    const answer = answerToDrafts(parsed, { firstId, policy: engine.policy, destination, steered, metrics, now });
    const failure = destination && 'failure' in destination ? [sandboxFailed(destination.failure)] : [];
    const { condenses, condensesAfter = Infinity } = engine.limits;
    const isEnough = isNearlyFull(metrics, contextWindow) || firstId - 1 - state.condensedTo >= condensesAfter;
    const condensed = isEnough && condenses && forgettable(state) !== undefined;
    return [...lead, ...answer, ...failure, ...(condensed ? [requestCondensation] : [])];
  });
}

/** Four fifths of what the model can take: the next observations need space. */
function isNearlyFull({ accumulated_token_usage: tokens }: LlmMetrics, contextWindow: number | undefined): boolean {
  return contextWindow !== undefined && (tokens?.per_turn_token ?? 0) > 0.8 * contextWindow;
}

/** The sandbox is acquired before its actions are appended: what is in the log without a destination never started. */
async function findDestination(engine: Engine, signal: AbortSignal): Promise<Destination> {
  const acquired = await engine.sandbox.acquire(signal);
  return acquired.ok ? { executor: acquired.runtime.incarnation } : { failure: acquired.reason };
}
