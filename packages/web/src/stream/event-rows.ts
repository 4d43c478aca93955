/**
 * Owns the rows that a list of events is read as, oldest first, and adds the next event to them. What only the machine needs is left out.
 *
 * Invariants
 * EVE1  An action and the observation that names it as its cause are one step.
 * EVE2  An event costs the same whatever stands before it: it adds rows at the end, and changes at most one.
 */
import { type Action, type Event, isAction, isObservation, type Observation } from '@tendon/protocol';
import type { StepItem, StreamItem } from './stream-item.ts';
import { type PlainText, t, textKey } from '../lib/language/text.ts';

export class EventRows {
  readonly items: StreamItem[] = [];
  /** Where the lowest row stands that was changed after it had been added. */
  changedFrom = Number.POSITIVE_INFINITY;
  /** Where the step of an action stands. */
  readonly #steps = new Map<number, number>();
  /** Where the steps stand that wait for a decision. */
  #asked: readonly number[] = [];
  /** Where a person last asked the agent to stop. */
  #stoppedAt = -1;

  add(event: Event): void {
    const reasoning = reasoningOf(event);
    if (reasoning) this.#push({ type: 'step', key: `r${event.id}`, id: event.id, at: event.timestamp, reasoning });
    if (isAction(event)) this.#addAction(event);
    else if (isObservation(event)) this.#addObservation(event);
    else this.#push({ type: 'step', key: `e${event.id}`, id: event.id, at: event.timestamp, unknown: event });
  }

  /** The events from `from` below `to` are missing. */
  addGap(from: number, to: number): void {
    this.#push({ type: 'gap', key: `g${from}`, id: from, at: '', from, to });
  }

  #push(item: StreamItem): number {
    return this.items.push(item) - 1;
  }

  #change(at: number, change: Partial<StepItem>): void {
    this.items[at] = { ...(this.items[at] as StepItem), ...change };
    this.changedFrom = Math.min(this.changedFrom, at);
  }

  #addAction(action: Action): void {
    if (isStop(action)) this.#stoppedAt = action.id;
    const common = { key: `e${action.id}`, id: action.id, at: action.timestamp };
    const author = action.author && { author: action.author.name };
    if (action.action === 'message' && action.source === 'user') {
      const { content: text, image_urls: images, file_urls: files } = action.args;
      this.#push({ type: 'turn', ...common, ...author, text, images: images ?? [], files: files ?? [] });
    } else if (action.action === 'start') {
      this.#push({ type: 'turn', ...common, ...author, text: action.args.task, images: [], files: [] });
    } else if (action.action === 'message') {
      if (action.args.content.trim()) this.#push({ type: 'speech', ...common, text: action.args.content });
    } else if (!HIDDEN_ACTIONS.has(action.action)) this.#addStep(action);
  }

  #addStep(action: Action): void {
    const common = { key: `e${action.id}`, id: action.id, at: action.timestamp };
    const asked = this.#asked.findLast((at) => isRepeatedBy(this.items[at] as StepItem, action));
    if (asked !== undefined) {
      this.#steps.set(action.id, asked);
      this.#change(asked, { action, wasAsked: true });
    } else {
      const thought = spokenThought(action);
      if (thought) this.#push({ type: 'speech', ...common, key: `t${action.id}`, text: thought });
      this.#steps.set(action.id, this.#push({ type: 'step', ...common, action }));
    }
    const at = this.#steps.get(action.id)!;
    if (waits(action)) this.#asked = [...this.#asked.filter((other) => other !== at), at];
    else if (asked !== undefined) this.#asked = this.#asked.filter((other) => other !== at);
  }

  #addObservation(observation: Observation): void {
    if (observation.observation === 'null' || observation.observation === 'loop_detection' || isNothing(observation)) return;
    if (observation.observation === 'agent_state_changed') return this.#addState(observation);
    const common = { key: `e${observation.id}`, id: observation.id, at: observation.timestamp };
    if (observation.observation === 'chat') {
      this.#push({ type: 'turn', ...common, text: observation.content, images: [], files: [] });
      return;
    }
    if (isWordToTheModel(observation)) {
      this.#push({ type: 'note', ...common, text: t('Your message came in between; the agent goes on with that') });
      return;
    }
    const at = observation.cause === undefined ? undefined : this.#steps.get(observation.cause);
    const wasStopped = observation.cause !== undefined && this.#stoppedAt > observation.cause;
    if (at !== undefined && !(this.items[at] as StepItem).observation) this.#change(at, { observation, ...(wasStopped && { wasStopped }) });
    else this.#push({ type: 'step', ...common, observation });
  }

  #addState(observation: Observation<'agent_state_changed'>): void {
    const { agent_state: state, reason } = observation.extras;
    const common = { key: `e${observation.id}`, id: observation.id, at: observation.timestamp };
    const note = NOTES[state];
    const text = note && t(note);
    const last = this.items.at(-1);
    if (text) {
      // Repeats within a second are one.
      const repeats = last?.type === 'note' && last.text === text && Date.parse(common.at) - Date.parse(last.at) < 1000;
      if (!repeats) this.#push({ type: 'note', ...common, text });
    } else if (state === 'rate_limited') {
      const before = last?.type === 'step' && isPause(last.observation) ? last : undefined;
      if (before) this.#change(this.items.length - 1, { observation, attempts: (before.attempts ?? 1) + 1 });
      else this.#push({ type: 'step', ...common, observation });
    } else if (state === 'error' && reason && !saysTheSame(last, reason)) {
      this.#push({ type: 'step', ...common, observation });
    }
  }
}

/** It stands on the first event of an answer, whatever that is. */
function reasoningOf(event: Event): string {
  const { reasoning_content: text } = event as { readonly reasoning_content?: unknown };
  return typeof text === 'string' ? text.trim() : '';
}

function waits({ args }: Action): boolean {
  return 'confirmation_state' in args && args.confirmation_state === 'awaiting_confirmation';
}

/** An action that waited for a decision comes again, with a new id, once it was decided: still one step. */
function isRepeatedBy({ action: asked, observation }: StepItem, action: Action): boolean {
  if (!asked || observation || asked.action !== action.action || !waits(asked)) return false;
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

function isPause(observation: Observation | undefined): boolean {
  return observation?.observation === 'agent_state_changed' && observation.extras.agent_state === 'rate_limited';
}

const NOTES: Readonly<Record<string, PlainText>> = { paused: textKey('Paused by you'), stopped: textKey('Stopped by you') };

function saysTheSame(last: StreamItem | undefined, reason: string): boolean {
  return last?.type === 'step' && last.observation?.observation === 'error' && last.observation.content === reason;
}
