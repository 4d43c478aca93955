/**
 * The loop: look at the folded log, do the one next thing, look again. All its memory is the log, so it may be ended at any await
 * and a new one goes on.
 *
 * Invariants
 * L1  A step costs two appends: the model's answer as one batch, then the observation.
 * L2  Only here is anything decided for the agent; a person's requests reach it through the log.
 * L3  Every step but `rest` leaves the log longer, or waits for something that does.
 */
import type { Action } from '@tendon/protocol';
import type { EngineState } from './engine-state.ts';
import type { SourcedDraft } from '../log/event-log.ts';
import type { RunnableAction } from '../sandbox/runtime.ts';
import { searchMessages } from '../knowledge/search-messages.ts';
import { answerCore } from './answer-core.ts';
import { condenseLog } from './condense-log.ts';
import { delegated } from './delegated.ts';
import type { Engine } from './engine.ts';
import { execute } from './execute.ts';
import { nextStep } from './next-step.ts';
import { answerTo, notice, stateChanged } from './notices.ts';
import { calledOutside, callUnknown, wasCalledOutside } from './outside-tools.ts';
import { takeTurn } from './take-turn.ts';

/** Runs until there is nothing to do or the conversation is closed. `onRest` is called in the tick of that decision. Rejects with the storage's error. */
export async function runLoop(engine: Engine, onRest: () => void): Promise<void> {
  try {
    for (;;) {
      const step = nextStep(engine.folded.state, engine.limits);
      if (step.do === 'rest' || engine.aborts.closing.aborted) break;
      switch (step.do) {
        case 'settle':
          await settle(engine);
          break;
        case 'announce':
          await engine.folded.append((state) => announced(state, engine));
          break;
        case 'answer':
          await answer(engine, step.action);
          break;
        case 'execute':
          await engine.executing.run(() => execute(engine, step.action));
          break;
        case 'condense':
          await condenseLog(engine);
          break;
        case 'turn':
          await takeTurn(engine);
          break;
      }
    }
  } finally {
    onRest();
  }
}

/** Decided again on the state it is appended to. */
function announced(state: EngineState, engine: Engine): readonly SourcedDraft[] {
  const step = nextStep(state, engine.limits);
  return step.do === 'announce' ? step.drafts : [];
}

/** What it takes is looked up first; meanwhile somebody may have asked for something else. */
async function answer(engine: Engine, action: Action): Promise<void> {
  if (action.action === 'delegate') return answerDelegate(engine, action);
  if (action.action === 'call_tool_mcp') return answerOutside(engine, action);
  const recalls = action.action === 'recall';
  if (recalls) await engine.library.load();
  const hits = recalls && action.source !== 'user' ? await searchMessages(engine.log, action.args.query) : undefined;
  if (engine.aborts.closing.aborted) return;
  await engine.folded.append((state) => {
    const step = nextStep(state, engine.limits);
    return step.do === 'answer' && step.action.id === action.id ? [answered(engine, state, { action, hits })] : [];
  });
}

async function answerDelegate(engine: Engine, action: Action<'delegate'>): Promise<void> {
  const done = await delegated(engine, action);
  if (!done || engine.aborts.closing.aborted) return;
  const { costUsd, ...observation } = done;
  await engine.folded.append((state) => {
    const step = nextStep(state, engine.limits);
    const metrics = state.metrics && costUsd > 0 && { ...state.metrics, accumulated_cost: state.metrics.accumulated_cost + costUsd };
    const draft = { ...answerTo(action, observation), ...(metrics && { llm_metrics: metrics }) };
    return step.do === 'answer' && step.action.id === action.id ? [draft] : [];
  });
}

async function answerOutside(engine: Engine, action: Action<'call_tool_mcp'>): Promise<void> {
  const observation = await calledOutside(engine, action);
  if (!observation || engine.aborts.closing.aborted) return;
  // Also when somebody asked for an end meanwhile: it was carried out, and that is not the same as not executed.
  await engine.folded.append(({ conversation }) =>
    conversation.pending.some(({ id }) => id === action.id) ? [answerTo(action, observation)] : [],
  );
  engine.dispatched.delete(action.id);
}

/** The environment is the source of what is recalled, whichever party asked. */
function answered(
  engine: Engine,
  { shownMicroagents, missed }: EngineState,
  about: { readonly action: Action; readonly hits?: string[] | undefined },
): SourcedDraft {
  const { action, hits } = about;
  const sources = { now: engine.clock.now(), known: engine.library.known, shownMicroagents, missed, ...(hits && { hits }) };
  const draft = answerTo(action, answerCore(action, sources));
  return action.action === 'recall' ? { ...draft, source: 'environment' } : draft;
}

/** Ends what runs, answers what is left, and grants the request. A message that came after the request starts the agent again. */
async function settle(engine: Engine): Promise<void> {
  engine.aborts.endTurn();
  engine.aborts.cancelActions();
  await engine.executing.run(async () => {
    // A dispatched action without an outcome in the log may still be running: its executor is asked for it, and cancels it.
    for (const action of engine.folded.state.conversation.pending) {
      if (!engine.dispatched.has(action.id)) continue;
      if (action.executor) await execute(engine, action as RunnableAction, { cancelled: true });
      else if (action.action === 'delegate') await delegated(engine, action, { cancelled: true });
    }
    if (engine.aborts.closing.aborted) return;
    await engine.folded.append((state) => {
      const {
        conversation: { pending, lastUserMessageId },
        requested,
      } = state;
      if (!requested) return [];
      const answers = pending.map((action) => {
        if (action.action === 'recall') return answered(engine, state, { action });
        return answerTo(action, wasCalledOutside(engine, action) ? callUnknown : notice.stopped);
      });
      return [...answers, stateChanged(requested.to), ...(lastUserMessageId > requested.id ? [stateChanged('running')] : [])];
    });
  });
}
