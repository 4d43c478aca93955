/**
 * The loop: look at the folded log, do the one next thing, look again. All its memory is the log, so it may be ended at any await
 * and a new one goes on.
 *
 * Invariants
 * LO1  A step costs two appends: the model's answer as one batch, then the observation.
 * LO2  Only here is anything decided for the agent; a person's requests reach it through the log.
 * LO3  Every step but `rest` leaves the log longer, or waits for something that does.
 */
import { isActive, isRunnable, type Action, type ObservationDraft } from '@tendon/protocol';
import type { EngineState } from './engine-state.ts';
import type { SourcedDraft } from '../log/event-log.ts';
import type { RunnableAction } from '../sandbox/runtime.ts';
import { searchMessages } from '../knowledge/search-messages.ts';
import { answerCore } from './answer-core.ts';
import { condenseLog } from './condense-log.ts';
import { delegated } from './delegated.ts';
import type { LoopPorts } from './ports.ts';
import { execute } from './execute.ts';
import { nextStep } from './next-step.ts';
import { noted } from './noted.ts';
import { recalled } from './recalled.ts';
import { readPlan, type Tasks } from './plan.ts';
import { answerTo, notice, stateChanged } from './notices.ts';
import { calledExternally, callUnknown, wasCalledExternally } from './external-tools.ts';
import { takeTurn } from './take-turn.ts';
import { beginChecks } from './finish-checks.ts';
import { askAfterAction, askBeforeStop } from './hooks.ts';
import { usedSkill } from './use-skill.ts';

/** Runs until there is nothing to do or the conversation is closed. `onRest` is called in the tick of that decision. Rejects with the storage's error. */
export async function runLoop(ports: LoopPorts, onRest: () => void): Promise<void> {
  try {
    for (;;) {
      const step = nextStep(ports.folded.state, ports.limits);
      ports.aborts.turnOver();
      if (step.do === 'rest' || ports.aborts.closing.aborted || ports.aborts.isLeaving) break;
      switch (step.do) {
        case 'settle':
          await settle(ports);
          break;
        case 'announce':
          await ports.folded.append((state) => announced(state, ports));
          break;
        case 'answer':
          await answer(ports, step.action);
          break;
        case 'execute':
          await ports.executing.run(() => execute(ports, step.action));
          break;
        case 'together':
          await together(ports, step.actions);
          break;
        case 'condense':
          await condenseLog(ports);
          break;
        case 'check':
          await beginChecks(ports);
          break;
        case 'ask_to_stop':
          await askBeforeStop(ports);
          break;
        case 'turn':
          await takeTurn(ports);
          break;
        case 'hold':
          if (!(await handedBack(ports, step.id))) return;
      }
    }
  } finally {
    ports.aborts.turnOver();
    onRest();
  }
}

/** False when nobody waits for it any more: its outcome could not be stored, and the next action of a person tries again. */
async function handedBack({ holding, folded }: LoopPorts, id: number): Promise<boolean> {
  await holding.run(() => undefined);
  return folded.state.conversation.pending.every((action) => action.id !== id);
}

/** Each appends its result as it comes; the model is shown them in the order of its calls. When the storage fails, all are waited for. */
async function together(ports: LoopPorts, actions: readonly Action[]): Promise<void> {
  const beside: ReadonlySet<number> = new Set(actions.map(({ id }) => id));
  const each = (action: Action): Promise<void> =>
    isRunnable(action.action) ? execute(ports, action as RunnableAction, { beside }) : answer(ports, action);
  const all = (): Promise<PromiseSettledResult<void>[]> => Promise.allSettled(actions.map(each));
  const results = await (actions.some(({ action }) => isRunnable(action)) ? ports.executing.run(all) : all());
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

/** Decided again on the state it is appended to. */
function announced(state: EngineState, { limits }: Pick<LoopPorts, 'limits'>): readonly SourcedDraft[] {
  const step = nextStep(state, limits);
  return step.do === 'announce' ? step.drafts : [];
}

/** What it takes is looked up first; meanwhile somebody may have asked for something else. */
async function answer(ports: LoopPorts, action: Action): Promise<void> {
  if (action.action === 'delegate') return answerDelegate(ports, action);
  if (action.action === 'call_tool_mcp') return answerExternal(ports, action);
  if (action.action === 'recall' && action.source === 'agent')
    return action.args.note ? answerNote(ports, action) : answerRecall(ports, action);
  const recalls = action.action === 'recall';
  if (recalls) await ports.library.load();
  const hits = recalls && action.source !== 'user' ? await searchMessages(ports.log, action.args.query) : undefined;
  const plan = action.action === 'task_tracking' ? await readPlan(ports.log, ports.folded.state.planId) : undefined;
  if (ports.aborts.closing.aborted) return;
  await ports.folded.append((state) => {
    const step = nextStep(state, ports.limits);
    return step.do === 'answer' && step.action.id === action.id ? [answered(ports, state, { action, hits, plan })] : [];
  });
}

async function answerDelegate(ports: LoopPorts, action: Action<'delegate'>): Promise<void> {
  const done = await delegated(ports, action);
  if (!done || ports.aborts.closing.aborted) return;
  const { costUsd, unpricedTokens = 0, ...observation } = done;
  const notices = await afterwards(ports, action, observation);
  if (ports.aborts.closing.aborted) return;
  await ports.folded.append((state) => {
    const { accumulated_cost: cost = 0, unpriced_tokens: unpriced = 0 } = state.metrics ?? {};
    const metrics = state.metrics &&
      costUsd + unpricedTokens > 0 && {
        ...state.metrics,
        accumulated_cost: cost + costUsd,
        ...(unpriced + unpricedTokens > 0 && { unpriced_tokens: unpriced + unpricedTokens }),
      };
    const draft = { ...answerTo(action, observation), ...(metrics && { llm_metrics: metrics }) };
    return isDue(state, action) ? [draft, ...notices] : [];
  });
}

/** The agent's own: a skill, or a search of what was before. */
async function answerRecall(ports: LoopPorts, action: Action<'recall'>): Promise<void> {
  const observation = await (action.args.recall_type === 'default' ? recalled(ports, action) : usedSkill(ports, action));
  if (!observation || ports.aborts.closing.aborted) return;
  await ports.folded.append((state) => (isDue(state, action) ? [{ ...answerTo(action, observation), source: 'environment' }] : []));
}

/** It is reported also when somebody asked for an end meanwhile: it was written. */
async function answerNote(ports: LoopPorts, action: Action<'recall'>): Promise<void> {
  const observation = await noted(ports, action);
  if (ports.aborts.closing.aborted) return;
  await ports.folded.append(({ conversation: { pending } }) =>
    pending.some(({ id }) => id === action.id) ? [{ ...answerTo(action, observation), source: 'environment' }] : [],
  );
}

/** Nobody paused, stopped or ended it meanwhile. */
function isDue({ conversation, requested }: EngineState, { id }: Action): boolean {
  return !requested && isActive(conversation.agentState) && conversation.pending.some((action) => action.id === id);
}

async function answerExternal(ports: LoopPorts, action: Action<'call_tool_mcp'>): Promise<void> {
  const observation = await calledExternally(ports, action);
  if (!observation || ports.aborts.closing.aborted) return;
  const words = await afterwards(ports, action, observation);
  // What came of it is nowhere else: when this process leaves, the words of hooks that it ended are lost, and not the result.
  const notices = ports.aborts.closing.aborted ? [] : words;
  // Also when somebody asked for an end meanwhile: it was carried out, and that is not the same as not executed.
  await ports.folded.append(({ conversation }) =>
    conversation.pending.some(({ id }) => id === action.id) ? [answerTo(action, observation), ...notices] : [],
  );
  ports.dispatched.delete(action.id);
}

/** A stop of the user's ends the hooks too. */
async function afterwards(ports: LoopPorts, action: Action, observation: ObservationDraft): Promise<readonly SourcedDraft[]> {
  const { signal, end } = ports.aborts.beginAction();
  try {
    return await askAfterAction(ports, action, observation, AbortSignal.any([signal, ports.aborts.closing]));
  } finally {
    end();
  }
}

/** The environment is the source of what is recalled, whichever party asked. */
function answered(
  { clock, library }: Pick<LoopPorts, 'clock' | 'library'>,
  { context: { shownMicroagents, missed } }: EngineState,
  about: { readonly action: Action; readonly hits?: string[] | undefined; readonly plan?: Tasks | undefined },
): SourcedDraft {
  const { action, hits, plan } = about;
  const sources = { now: clock.now(), known: library.known, shownMicroagents, missed, ...(hits && { hits }), ...(plan && { plan }) };
  const draft = answerTo(action, answerCore(action, sources));
  return action.action === 'recall' ? { ...draft, source: 'environment' } : draft;
}

/** Ends what runs, answers what is left, and grants the request. A message that came after the request starts the agent again. */
async function settle(ports: LoopPorts): Promise<void> {
  ports.aborts.endTurn();
  ports.aborts.cancelActions();
  await ports.executing.run(async () => {
    // A dispatched action without an outcome in the log may still be running: its executor is asked for it, and cancels it.
    for (const action of ports.folded.state.conversation.pending) {
      if (!ports.dispatched.has(action.id)) continue;
      if (action.executor) await execute(ports, action as RunnableAction, { cancelled: true });
      else if (action.action === 'delegate') await delegated(ports, action, { cancelled: true });
    }
    if (ports.aborts.closing.aborted) return;
    await ports.folded.append((state) => {
      const {
        conversation: { pending, lastUserMessageId },
        requested,
      } = state;
      if (!requested) return [];
      const answers = pending.map((action) => {
        if (action.action === 'recall' && action.source !== 'agent') return answered(ports, state, { action });
        return answerTo(action, wasCalledExternally(ports, action) ? callUnknown : notice.stopped);
      });
      return [...answers, stateChanged(requested.to), ...(lastUserMessageId > requested.id ? [stateChanged('running')] : [])];
    });
  });
}
