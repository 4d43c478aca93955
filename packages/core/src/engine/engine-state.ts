/**
 * What the engine knows of a conversation: the public fold and what only the loop needs. All of it is folded from the log,
 * so a restarted server decides as the old one would have.
 *
 * Invariants
 * ENG1  `requested` is set by a person's request that needs work to carry out (stop, finish) and cleared by the next state change.
 * ENG2  `ending` is set by the agent's own last word (finish, reject, a question) and cleared by the next state change.
 * ENG3  `progress` counts since a person last sent or asked for something.
 * ENG4  `context.shownMicroagents` are those that the model was shown and has not forgotten by a condensation.
 * ENG5  `context.missed` is the knowledge that could not be read from the workspace at a message, until a recall delivers it.
 * ENG6  `condensation.requestedBy` is set by a request and cleared by the condensation, by the error that answers the request, and by a
 *       stop; `condensation.end` is the last id that the model was made to forget.
 *       A restored conversation begins after that. `triedAt` is the last attempt, and `refused` whether it came to nothing.
 * ENG10  `condensation.inForce` are the newest condensations that count, oldest first; the last of them can be undone. `undone` are those
 *        that do not count any more.
 * ENG11  `changedFiles` are the newest paths that the agent wrote with its editor, each once, the newest last.
 * ENG7  `sent` are the last `MAX_SENT` actions that clients gave a `client_id`, oldest first: one that is sent again is not appended again.
 * ENG9  `shell` is where the usual shell of an executor stood when its last command ended; it is unknown while one runs.
 * ENG8  `planId` is the newest observation that holds a plan of the agent, `NO_PLAN` before the first.
 */
import {
  INITIAL_STATE,
  isAction,
  isObservation,
  patchedPaths,
  reduce,
  type Action,
  type AgentState,
  type ConversationState,
  type Event,
  type LlmMetrics,
  type Observation,
} from '@tendon/protocol';
import { NO_PLAN } from './plan.ts';
import { circleOf, NO_REPETITION, repeat, type Repetition } from './repetition.ts';

/** The id of the error that says of the agent's own end that checks failed: with it their round is over. */
export const CHECKS_FAILED = 'AGENT_ERROR$CHECKS_FAILED';

/** The id of the error that says of the agent's own end that a hook refused it. */
export const STOP_REFUSED = 'AGENT_ERROR$STOPPED_BY_HOOK';

/** The id of the error that answers a request for a condensation which came to nothing. */
export const NOT_CONDENSED = 'AGENT_ERROR$NOT_CONDENSED';

export interface MissedKnowledge {
  /** The instructions, which the model is given when a task begins. */
  readonly context: boolean;
  /** Words that may trigger knowledge. */
  readonly words: string;
}

/** A client's action, by the id that the client gave it. */
export interface SentAction {
  readonly clientId: string;
  readonly id: number;
}

/**
 * More than a client stores for sending again.
 * @internal
 */
export const MAX_SENT = 256;

interface Progress {
  /** Answers of the model. */
  readonly turns: number;
  /** Consecutive answers in which no call could be understood. */
  readonly malformed: number;
  readonly repetition: Repetition;
  /** The agent was given a hint that it goes in circles. */
  readonly hinted: boolean;
  /** It was halted for that: the id of the first action of the circle. */
  readonly circleFrom: number | undefined;
  readonly checks: FinishChecks;
  /** So often a hook refused the agent's end. */
  readonly refusedStops: number;
}

/** The commands that are run before the agent's task counts as finished. */
interface FinishChecks {
  /** So often were they begun. */
  readonly rounds: number;
  /** This round's results are in the log or will be, and nothing was concluded from them. */
  readonly isOpen: boolean;
  readonly failed: number;
}

/** What the model has been given beside messages and results. */
interface ModelContext {
  /** The prompt and tools are in the log. */
  readonly hasSystem: boolean;
  /** The hooks of the conversation's start have run. */
  readonly hasBegun: boolean;
  /** Names. */
  readonly shownMicroagents: ReadonlySet<string>;
  readonly missed: MissedKnowledge | undefined;
}

/** A condensation that counts. */
interface CondensationInForce {
  readonly id: number;
  /** The last id that it made the model forget; −1 when it only cleared results. */
  readonly end: number;
}

interface CondensationState {
  readonly requestedBy: 'user' | 'agent' | 'engine' | undefined;
  readonly end: number;
  readonly triedAt: number;
  readonly refused: boolean;
  readonly inForce: readonly CondensationInForce[];
  readonly undone: readonly number[];
}

export interface EngineState {
  readonly conversation: ConversationState;
  readonly requested: { readonly to: 'stopped' | 'finished'; readonly id: number } | undefined;
  readonly ending: Extract<AgentState, 'finished' | 'rejected' | 'awaiting_user_input'> | undefined;
  readonly progress: Progress;
  readonly context: ModelContext;
  readonly condensation: CondensationState;
  readonly metrics: LlmMetrics | undefined;
  readonly sent: readonly SentAction[];
  readonly planId: number;
  readonly changedFiles: readonly string[];
  readonly shell: { readonly executor: string; readonly folder: string } | undefined;
}

const NO_CHECKS: FinishChecks = Object.freeze({ rounds: 0, isOpen: false, failed: 0 });

const NO_PROGRESS: Progress = Object.freeze({
  turns: 0,
  malformed: 0,
  repetition: NO_REPETITION,
  hinted: false,
  circleFrom: undefined,
  checks: NO_CHECKS,
  refusedStops: 0,
});

export const INITIAL_ENGINE_STATE: EngineState = Object.freeze({
  conversation: INITIAL_STATE,
  requested: undefined,
  ending: undefined,
  progress: NO_PROGRESS,
  context: Object.freeze({ hasSystem: false, hasBegun: false, shownMicroagents: new Set<string>(), missed: undefined }),
  condensation: Object.freeze({
    requestedBy: undefined,
    end: -1,
    triedAt: -1,
    refused: false,
    inForce: Object.freeze([]),
    undone: Object.freeze([]),
  }),
  metrics: undefined,
  sent: Object.freeze([]),
  planId: NO_PLAN,
  changedFiles: Object.freeze([]),
  shell: undefined,
});

/** Of the newest words. */
const MAX_MISSED_CHARS = 32 * 1024;

/** Folds one event. Total, like `reduce`. */
export function foldEngine(state: EngineState, event: Event): EngineState {
  const before = state.conversation;
  // The cost of an answer stands on its first event, so it also counts the answers; an observation can carry what it cost itself.
  const answers = event.source === 'agent' && event.llm_metrics && event.cause === undefined ? 1 : 0;
  const metrics = event.llm_metrics ?? state.metrics;
  const progress = { ...state.progress, turns: state.progress.turns + answers };
  const sent = foldSent(state.sent, event);
  const next = { ...state, conversation: reduce(before, event), metrics, progress, sent, shell: foldShell(state.shell, event, before) };
  if (isAction(event) && event.action === 'condensation_request')
    return { ...next, condensation: { ...next.condensation, requestedBy: requesterOf(event, state) } };
  if (isAction(event) && event.action === 'condensation') return foldCondensation(next, event);
  if (isAction(event)) return event.source === 'user' ? foldPerson(next, event) : foldAgent(next, event);
  if (isObservation(event)) return foldObservation(next, event, before);
  return next;
}

/** The engine's own request, too, has the agent as its source, but no call; it takes nothing from one that is there already. */
function requesterOf({ source, tool_call_metadata: call }: Action, { condensation }: EngineState): CondensationState['requestedBy'] {
  if (source === 'user') return 'user';
  return call ? 'agent' : (condensation.requestedBy ?? 'engine');
}

function foldSent(sent: EngineState['sent'], { id, source, client_id: clientId }: Event): EngineState['sent'] {
  return clientId === undefined || source !== 'user' ? sent : [...sent.slice(1 - MAX_SENT), { clientId, id }];
}

function foldShell(shell: EngineState['shell'], event: Event, { pending }: ConversationState): EngineState['shell'] {
  if (isAction(event)) return event.action === 'run' && isInUsualShell(event) ? undefined : shell;
  if (!isObservation(event) || event.observation !== 'run') return shell;
  const action = pending.find(({ id }) => id === event.cause);
  if (action?.action !== 'run' || !isInUsualShell(action)) return shell;
  const { exit_code, working_dir: folder } = event.extras.metadata;
  return action.executor !== undefined && folder && exit_code !== -1 ? { executor: action.executor, folder } : undefined;
}

function isInUsualShell({ args: { session, background, is_static, confirmation_state } }: Action<'run'>): boolean {
  return confirmation_state === 'confirmed' && session === undefined && !background && !is_static;
}

function foldPerson(state: EngineState, action: Action): EngineState {
  if (action.action === 'recall') return state;
  const fresh = { ...state, progress: NO_PROGRESS };
  if (action.action !== 'change_agent_state') return fresh;
  const asked = action.args.agent_state;
  return asked === 'stopped' || asked === 'finished' ? { ...fresh, requested: { to: asked, id: action.id } } : fresh;
}

function foldAgent(state: EngineState, action: Action): EngineState {
  if (isCheck(action)) return withChecks(state, openRound(state.progress.checks));
  if (action.source !== 'agent') return state;
  if (action.action === 'system') return { ...state, context: { ...state.context, hasSystem: true } };
  const understood = { ...state, progress: { ...state.progress, malformed: 0 } };
  if (action.action === 'finish') return { ...understood, ending: 'finished' };
  if (action.action === 'reject') return { ...understood, ending: 'rejected' };
  if (action.action === 'message' && action.args.wait_for_response) return { ...understood, ending: 'awaiting_user_input' };
  return understood;
}

function foldCondensation(state: EngineState, { id, args }: Action<'condensation'>): EngineState {
  if (args.edits !== undefined) return state;
  const { inForce, undone, end } = state.condensation;
  const attempted = { ...state.condensation, requestedBy: undefined, triedAt: id, refused: false };
  if (args.undoes !== undefined) {
    if (inForce.at(-1)?.id !== args.undoes) return state;
    const left = inForce.slice(0, -1);
    const before = Math.max(-1, ...left.map((each) => each.end));
    return { ...state, condensation: { ...attempted, inForce: left, undone: [...undone, args.undoes], end: before } };
  }
  if (args.cleared_until !== undefined)
    return { ...state, condensation: { ...attempted, inForce: [...inForce, { id, end: -1 }].slice(-MAX_IN_FORCE), end } };
  const context = { ...state.context, shownMicroagents: INITIAL_ENGINE_STATE.context.shownMicroagents };
  const forgotten = { id, end: args.forgotten_events_end_id ?? id };
  return { ...state, context, condensation: { ...attempted, inForce: [...inForce, forgotten].slice(-MAX_IN_FORCE), end: forgotten.end } };
}

/** Earlier ones cannot be undone. */
const MAX_IN_FORCE = 16;

function foldObservation(state: EngineState, observation: Observation, before: ConversationState): EngineState {
  if (observation.observation === 'agent_state_changed') {
    const requestedBy = observation.extras.agent_state === 'stopped' ? undefined : state.condensation.requestedBy;
    return { ...state, requested: undefined, ending: undefined, condensation: { ...state.condensation, requestedBy } };
  }
  if (observation.observation === 'error' && observation.extras.error_id === NOT_CONDENSED)
    return { ...state, condensation: { ...state.condensation, requestedBy: undefined, triedAt: observation.id, refused: true } };
  if (observation.observation === 'error' && observation.extras.error_id === CHECKS_FAILED)
    return withChecks({ ...state, ending: undefined }, { ...state.progress.checks, isOpen: false });
  if (observation.observation === 'error' && observation.extras.error_id === STOP_REFUSED) return foldRefusedStop(state);
  if (observation.observation === 'success' && observation.extras.hook === 'session_start')
    return { ...state, context: { ...state.context, hasBegun: true } };
  if (observation.observation === 'loop_detection') return foldLoop(state, observation);
  if (observation.observation === 'restore_checkpoint') return foldRestored(state, observation);
  const recalled = observation.observation === 'recall' ? foldRecall(state, observation, before) : state;
  return foldResult(recalled, observation, before);
}

function foldResult(state: EngineState, observation: Observation, before: ConversationState): EngineState {
  if (observation.cause === undefined) {
    // A call that could not be understood has no action: its error carries the call, and the first of an answer its cost.
    if (!observation.tool_call_metadata || !observation.llm_metrics) return state;
    return { ...state, progress: { ...state.progress, malformed: state.progress.malformed + 1 } };
  }
  const action = before.pending.find(({ id }) => id === observation.cause);
  if (action && isCheck(action)) return foldChecked(state, observation);
  if (!action || action.source !== 'agent') return state;
  const changedFiles = foldChanged(state.changedFiles, action, observation);
  const planId = observation.observation === 'task_tracking' && observation.extras.command === 'plan' ? observation.id : state.planId;
  return {
    ...state,
    planId,
    changedFiles,
    progress: { ...state.progress, repetition: repeat(state.progress.repetition, action, observation) },
  };
}

/** More are found with git. */
const MAX_CHANGED_FILES = 100;
const MAX_PATH_CHARS = 300;

function foldChanged(changed: readonly string[], action: Action, { observation, content }: Observation): readonly string[] {
  if ((observation !== 'edit' && observation !== 'write') || content.startsWith('ERROR:')) return changed;
  const paths = pathsOf(action).filter((path) => path !== '' && path.length <= MAX_PATH_CHARS);
  if (paths.every((path) => path === changed.at(-1))) return changed;
  return [...new Set([...changed.filter((path) => !paths.includes(path)), ...paths])].slice(-MAX_CHANGED_FILES);
}

function pathsOf(action: Action): readonly string[] {
  if (action.action === 'write') return [action.args.path];
  if (action.action !== 'edit' || action.args.command === 'view') return [];
  return action.args.patch === undefined ? [action.args.path] : patchedPaths(action.args.patch);
}

function foldLoop(state: EngineState, { extras: { hint } }: Observation<'loop_detection'>): EngineState {
  const circleFrom = circleOf(state.progress.repetition)?.from;
  return { ...state, progress: { ...state.progress, ...(hint ? { hinted: true } : { circleFrom }) } };
}

function isCheck({ action, source }: Action): boolean {
  return action === 'run' && source === 'environment';
}

function openRound(checks: FinishChecks): FinishChecks {
  return checks.isOpen ? checks : { rounds: checks.rounds + 1, isOpen: true, failed: 0 };
}

function withChecks(state: EngineState, checks: FinishChecks): EngineState {
  return { ...state, progress: { ...state.progress, checks } };
}

/** What was checked before it is checked again with the next end. */
function foldRefusedStop({ progress, ...state }: EngineState): EngineState {
  const checks = { ...progress.checks, isOpen: false };
  return { ...state, ending: undefined, progress: { ...progress, checks, refusedStops: progress.refusedStops + 1 } };
}

function foldChecked(state: EngineState, observation: Observation): EngineState {
  const { checks } = state.progress;
  const isFine = observation.observation === 'run' && observation.extras.metadata.exit_code === 0;
  return isFine ? state : withChecks(state, { ...checks, failed: checks.failed + 1 });
}

/** What the model knew of its tools' notes may be among what it is no longer shown: it is given them again. */
function foldRestored(state: EngineState, { extras: { what, from } }: Observation<'restore_checkpoint'>): EngineState {
  if (what === 'files' || from < 0) return state;
  const context = { ...state.context, shownMicroagents: INITIAL_ENGINE_STATE.context.shownMicroagents };
  return { ...state, context, progress: NO_PROGRESS };
}

function foldRecall(state: EngineState, { cause, extras }: Observation<'recall'>, before: ConversationState): EngineState {
  const asked = before.pending.find(({ id }) => id === cause);
  const query = asked?.action === 'recall' ? asked.args.query : '';
  const { context } = state;
  const shownMicroagents = new Set([...context.shownMicroagents, ...extras.microagent_knowledge.map(({ name }) => name)]);
  return { ...state, context: { ...context, shownMicroagents, missed: foldMissed(context.missed, extras, query) } };
}

function foldMissed(
  missed: MissedKnowledge | undefined,
  { missing, recall_type }: Observation<'recall'>['extras'],
  query: string,
): MissedKnowledge | undefined {
  const isContext = recall_type === 'workspace_context';
  if (missing === undefined) return missed && (isContext || !missed.context) ? undefined : missed;
  const words = missed ? `${missed.words}\n${query}` : query;
  return { context: isContext || (missed?.context ?? false), words: words.slice(-MAX_MISSED_CHARS) };
}
