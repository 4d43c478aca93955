import type { ConversationSnapshot } from '@tendon/client';
import { type Action, type Event, isAction, isObservation } from '@tendon/protocol';
import { type ConversationState, takeOverOf } from '@tendon/protocol/reduce';
import { startingWords } from '../copy/error-words.ts';
import { stateSentence, type StateSentence } from '../copy/state-sentence.ts';
import { editedSinceRest } from './changed-files.ts';

export interface StateNow extends StateSentence {
  /** Since when it holds, and until when it held; milliseconds since the epoch. */
  readonly since: number | undefined;
  readonly until: number | undefined;
}

export interface StateNowOptions {
  readonly model?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: number;
}

/** The sentence of a conversation as its events have it: of the state line, the title of the window and what is read aloud. */
export function stateNow(
  {
    state,
    events,
    gaps,
    status,
    answer,
  }: Pick<ConversationSnapshot, 'state' | 'events' | 'status' | 'answer'> & Partial<Pick<ConversationSnapshot, 'gaps'>>,
  { model, now = 0 }: StateNowOptions = {},
): StateNow {
  const doing = actionOfAgent(state);
  const lastChange = events.findLast((event) => isObservation(event) && event.observation === 'agent_state_changed');
  const isOver = state.agentState === 'finished';
  const began = isOver
    ? events.findLast((event) => event.id === state.lastUserMessageId)
    : state.agentState === 'running' && doing
      ? doing
      : lastChange;
  return {
    ...stateSentence({
      state: state.agentState,
      isHeld: takeOverOf(state) !== undefined,
      reason: state.reason,
      detail: lastChange && 'content' in lastChange ? lastChange.content : undefined,
      resumesAt: state.resumesAt,
      doing,
      isWriting: Boolean(answer?.text.trim() || answer?.tool),
      isFresh: state.lastUserMessageId < 0,
      asks: state.agentState === 'awaiting_user_input' && isQuestion(events),
      starting: startingWords(status?.id),
      // Of events that are not loaded nobody knows here.
      filesEdited: isOver && !gaps?.length ? editedSinceRest(events) : undefined,
      model,
      now,
    }),
    since: began && timeOf(began.timestamp),
    until: isOver ? lastChange && timeOf(lastChange.timestamp) : undefined,
  };
}

/**
 * What the agent is at: its newest action without an answer. What a person's message caused is none, and one that waited for a decision
 * is repeated under a new id once that was made.
 */
function actionOfAgent({ pending }: ConversationState): Action | undefined {
  const waits = (action: Action): boolean =>
    'confirmation_state' in action.args && action.args.confirmation_state === 'awaiting_confirmation';
  return pending.findLast((action) => (action.source === 'agent' || action.action === 'run') && !waits(action));
}

/** Whether the agent's last message asks for an answer. */
function isQuestion(events: readonly Event[]): boolean {
  const last = events.findLast((event) => isAction(event) && event.action === 'message');
  if (!last || last.source !== 'agent' || !isAction(last) || last.action !== 'message') return false;
  return (last.args.choices ?? []).length > 0 || /\?["”’)*_]*\s*$/.test(last.args.content);
}

function timeOf(iso: string): number | undefined {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? undefined : time;
}
