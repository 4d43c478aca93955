import { type Action, type Event, isAction, isObservation, type Observation } from '@tendon/protocol';
import { type NoteItem, type SpeechItem, type StepItem, type StreamItem, type FoldItem, isFailure } from './stream-item.ts';

/**
 * The rows that a list of events is read as, oldest first. A pure function of the events.
 * An action and the observation that names it as its cause become one step; what only the machine needs is left out.
 */
export function projectItems(events: readonly Event[]): readonly StreamItem[] {
  const items: StreamItem[] = [];
  /** Where the step of an action stands in `items`. */
  const steps = new Map<number, number>();
  /** Where a person last asked the agent to stop. */
  let stoppedAt = -1;
  for (const event of events) {
    const reasoning = reasoningOf(event);
    if (reasoning) items.push({ type: 'step', key: `r${event.id}`, id: event.id, at: event.timestamp, reasoning });
    if (isAction(event)) {
      if (isStop(event)) stoppedAt = event.id;
      projectAction(event, items, steps);
    } else if (isObservation(event)) projectObservation(event, items, steps, stoppedAt);
    else items.push({ type: 'step', key: `e${event.id}`, id: event.id, at: event.timestamp, unknown: event });
  }
  return items;
}

/** It stands on the first event of an answer, whatever that is. */
function reasoningOf(event: Event): string {
  const { reasoning_content: text } = event as { readonly reasoning_content?: unknown };
  return typeof text === 'string' ? text.trim() : '';
}

function projectAction(action: Action, items: StreamItem[], steps: Map<number, number>): void {
  const common = { key: `e${action.id}`, id: action.id, at: action.timestamp };
  if (action.action === 'message' && action.source === 'user') {
    const { content: text, image_urls: images, file_urls: files } = action.args;
    items.push({ type: 'turn', ...common, text, images: images ?? [], files: files ?? [] });
    return;
  }
  if (action.action === 'start') {
    items.push({ type: 'turn', ...common, text: action.args.task, images: [], files: [] });
    return;
  }
  if (action.action === 'message') {
    if (action.args.content.trim()) items.push({ type: 'speech', ...common, text: action.args.content });
    return;
  }
  if (HIDDEN_ACTIONS.has(action.action)) return;
  const asked = items.findLastIndex((item) => item.type === 'step' && isRepeatedBy(item, action));
  if (asked >= 0) {
    steps.set(action.id, asked);
    items[asked] = { ...(items[asked] as StepItem), action, wasAsked: true };
    return;
  }
  const thought = spokenThought(action);
  if (thought) items.push({ type: 'speech', ...common, key: `t${action.id}`, text: thought } satisfies SpeechItem);
  steps.set(action.id, items.length);
  items.push({ type: 'step', ...common, action });
}

/** An action that waited for a decision comes again, with a new id, once it was decided: still one step. */
function isRepeatedBy({ action: asked, observation }: StepItem, action: Action): boolean {
  if (!asked || observation || asked.action !== action.action) return false;
  if (!('confirmation_state' in asked.args) || asked.args.confirmation_state !== 'awaiting_confirmation') return false;
  const [before, after] = [asked, action].map(
    (one) => one.tool_call_metadata?.tool_call_id ?? JSON.stringify({ ...one.args, confirmation_state: '', thought: '' }),
  );
  return before === after;
}

/** `recall` is shown by its observation: the action is not part of a replay. */
const HIDDEN_ACTIONS: ReadonlySet<string> = new Set([
  'null',
  'system',
  'change_agent_state',
  'recall',
  'initialize',
  'condensation_request',
  'pause',
  'resume',
  'stop',
]);

/** The agent's text beside its action; of `think` and `finish` the card shows it. */
function spokenThought(action: Action): string {
  if (action.action === 'think' || action.action === 'finish' || action.action === 'reject') return '';
  const thought = (action.args as { readonly thought?: unknown }).thought;
  return typeof thought === 'string' ? thought.trim() : '';
}

function isStop(action: Action): boolean {
  return action.source === 'user' && action.action === 'change_agent_state' && action.args.agent_state === 'stopped';
}

function projectObservation(observation: Observation, items: StreamItem[], steps: Map<number, number>, stoppedAt: number): void {
  if (observation.observation === 'null' || observation.observation === 'loop_detection' || isNothing(observation)) return;
  if (observation.observation === 'agent_state_changed') return projectState(observation, items);
  const common = { key: `e${observation.id}`, id: observation.id, at: observation.timestamp };
  if (observation.observation === 'chat') {
    items.push({ type: 'turn', ...common, text: observation.content, images: [], files: [] });
    return;
  }
  if (isWordToTheModel(observation)) {
    items.push({ type: 'note', ...common, text: 'Your message came in between; the agent goes on with that' } satisfies NoteItem);
    return;
  }
  const at = observation.cause === undefined ? undefined : steps.get(observation.cause);
  const step = at === undefined ? undefined : (items[at] as StepItem);
  const wasStopped = observation.cause !== undefined && stoppedAt > observation.cause;
  if (step && !step.observation) items[at!] = { ...step, observation, ...(wasStopped && { wasStopped }) };
  else items.push({ type: 'step', ...common, observation });
}

/** Notes were looked for by themselves, and there are none. */
function isNothing(observation: Observation): boolean {
  if (observation.observation !== 'recall') return false;
  const { recall_type: type, repo_instructions: instructions, microagent_knowledge: notes, note } = observation.extras;
  return type !== 'default' && !note && !instructions && notes.length === 0;
}

/** The model ended its task while the person wrote, and is sent back to work with this sentence: no failure of anything. */
function isWordToTheModel(observation: Observation): boolean {
  return observation.observation === 'error' && observation.content.startsWith('Not finished: the user wrote while you were answering');
}

function projectState(observation: Observation<'agent_state_changed'>, items: StreamItem[]): void {
  const { agent_state: state, reason } = observation.extras;
  const common = { key: `e${observation.id}`, id: observation.id, at: observation.timestamp };
  const text = NOTES[state];
  const last = items.at(-1);
  if (text) {
    // Repeats within a second are one.
    const repeats = last?.type === 'note' && last.text === text && Date.parse(common.at) - Date.parse(last.at) < 1000;
    if (!repeats) items.push({ type: 'note', ...common, text } satisfies NoteItem);
  } else if (state === 'rate_limited') {
    const before = last?.type === 'step' && isPause(last.observation) ? last : undefined;
    if (before) items[items.length - 1] = { ...before, observation, attempts: (before.attempts ?? 1) + 1 };
    else items.push({ type: 'step', ...common, observation });
  } else if (state === 'error' && reason && !saysTheSame(last, reason)) {
    items.push({ type: 'step', ...common, observation });
  }
}

function isPause(observation: Observation | undefined): boolean {
  return observation?.observation === 'agent_state_changed' && observation.extras.agent_state === 'rate_limited';
}

const NOTES: Readonly<Record<string, string>> = { paused: 'Paused by you', stopped: 'Stopped by you' };

function saysTheSame(last: StreamItem | undefined, reason: string): boolean {
  return last?.type === 'step' && last.observation?.observation === 'error' && last.observation.content === reason;
}

const LEAST = 5;
const SHOWN_AT_END = 2;

/** In turns that are over, long runs of plain steps become one row; their last two, failures and ends stay. */
export function foldTurns(items: readonly StreamItem[], isOver: boolean): readonly StreamItem[] {
  const lastTurn = items.findLastIndex((item) => item.type === 'turn');
  const folded: StreamItem[] = [];
  let run: StepItem[] = [];
  const close = () => {
    const split = run.length < LEAST ? 0 : run.length - SHOWN_AT_END;
    if (split > 0) folded.push(foldOf(run.slice(0, split)));
    folded.push(...run.slice(split));
    run = [];
  };
  items.forEach((item, index) => {
    const isDone = isOver || index < lastTurn;
    if (isDone && item.type === 'step' && isPlain(item)) run.push(item);
    else {
      close();
      folded.push(item);
    }
  });
  close();
  return folded;
}

function foldOf(steps: readonly StepItem[]): FoldItem {
  const first = steps[0]!;
  return { type: 'fold', key: `f${first.id}`, id: first.id, at: first.at, steps };
}

function isPlain(step: StepItem): boolean {
  const kind = step.action?.action;
  return !isFailure(step) && kind !== 'finish' && kind !== 'reject' && step.observation?.observation !== 'user_rejected';
}
