/** What the engine itself writes into the log: words, ids and shapes in one place. */
import {
  AgentStateChangedObservation,
  ErrorObservation,
  LoopDetectionObservation,
  MessageAction,
  ThinkObservation,
  UserRejectedObservation,
  withAnswerReference,
  type Action,
  type AgentState,
  type ObservationDraft,
  type ToolCallMetadata,
  isRunnable,
} from '@tendon/protocol';
import type { SourcedDraft } from '../log/event-log.ts';

export function stateChanged(state: AgentState, about: { reason?: string; content?: string; resumesAt?: Date } = {}): SourcedDraft {
  const { reason = '', content = '', resumesAt } = about;
  const extras = { agent_state: state, reason, ...(resumesAt && { resumes_at: resumesAt.toISOString() }) };
  return { source: 'environment', ...AgentStateChangedObservation.create(content, extras) };
}

/** An observation that answers an action, under the action's own source and with its call, whose answer the action's or an earlier event holds. */
export function answerTo(action: Pick<Action, 'id' | 'source' | 'tool_call_metadata'>, observation: ObservationDraft): SourcedDraft {
  const { id: cause, source, tool_call_metadata } = action;
  return { source, ...observation, cause, ...(tool_call_metadata && { tool_call_metadata: withAnswerReference(tool_call_metadata) }) };
}

/** For an answer's call that is no action: the model is informed, nothing ran. */
export function malformedCall(problem: string, tool_call_metadata: ToolCallMetadata): SourcedDraft {
  return { source: 'agent', ...error(problem, 'AGENT_ERROR$MALFORMED_CALL'), tool_call_metadata };
}

export function engineError(words: string, id: string): SourcedDraft {
  return { source: 'environment', ...error(words, id) };
}

/** For the model: one word before it is halted. */
export function loopHint(did: string): SourcedDraft {
  const content = `You ${did}. That leads nowhere: find out why before you go on, take another way, or say what is missing.`;
  return { source: 'environment', ...LoopDetectionObservation.create(content, { hint: true }) };
}

/** For people: what OpenHands' clients answer with `loop_recovery`. */
export function loopDetected(did: string): SourcedDraft {
  const content = `The agent ${did}. It can go on (1) from before that, (2) from your last message, or (3) be stopped.`;
  return { source: 'environment', ...LoopDetectionObservation.create(content, {}) };
}

export const notice = {
  stopped: error('Stop button pressed. The action has not been executed.', 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED'),
  afterEnd: error('Not executed: the same answer ended the task before it.', 'AGENT_ERROR$ACTION_NOT_EXECUTED'),
  afterRejection: error('Not executed: the user rejected an action of the same answer.', 'AGENT_ERROR$ACTION_NOT_EXECUTED'),
  afterUnknown: error(
    'Not executed: the outcome of an earlier action of the same answer is not known. Look at the real state first.',
    'AGENT_ERROR$ACTION_NOT_EXECUTED',
  ),
  neverStarted: error('Not executed: the action was recorded without a sandbox to run it.', 'AGENT_ERROR$ACTION_NOT_EXECUTED'),
  notFinished: error('Not finished: another call of the same answer could not be understood.', 'AGENT_ERROR$ACTION_NOT_EXECUTED'),
  userWrote: error(
    'Not finished: the user wrote while you were answering. Take that into account first.',
    'AGENT_ERROR$ACTION_NOT_EXECUTED',
  ),
  unavailable: error('Not executed: nothing here can carry out this action.', 'AGENT_ERROR$ACTION_NOT_EXECUTED'),
  thought: ThinkObservation.create('Your thought has been noted.', {}),
  rejected: UserRejectedObservation.create('The user rejected this action. It was not executed.', {}),
} as const satisfies Record<string, ObservationDraft>;

export function notStarted(reason: string): ObservationDraft {
  return error(`Not executed: ${reason}`, 'AGENT_ERROR$ACTION_NOT_EXECUTED');
}

/** The user's reason, for the model. */
export function rejectedBecause(reason = ''): ObservationDraft {
  const text = reason.trim().slice(0, MAX_REASON_CHARS);
  return text === '' ? notice.rejected : UserRejectedObservation.create(`${notice.rejected.content} Their reason: ${text}`, {});
}

/** No person's word, but an end of waiting for one. */
export function undecided(deadlineMs: number): ObservationDraft {
  return UserRejectedObservation.create(`Not executed: nobody decided about this action within ${deadlineMs / 1000} seconds.`, {});
}

const MAX_REASON_CHARS = 4000;

/** The model's call stands in its answer as the model wrote it, so the change is a message, which the model and the history have. */
export function changedByUser(text: string): SourcedDraft {
  const content = `I changed what you wanted to run before I approved it. The result of that call is of what ran instead:\n${text}`;
  return { source: 'user', ...MessageAction.create({ content }) };
}

/** A rule's word: nobody was asked. */
export function denied(reason: string): ObservationDraft {
  return error(
    `Not executed: ${reason}. Do not try it in another way; ask the user if the task needs it.`,
    'AGENT_ERROR$ACTION_NOT_EXECUTED',
  );
}

export function outcomeUnknown(reason: string): ObservationDraft {
  return error(
    `The outcome of this action is not known: ${reason}. It may have run wholly, in part, or not at all, and it was not run again. ` +
      'Look at the real state before repeating it.',
    'AGENT_ERROR$OUTCOME_UNKNOWN',
  );
}

function error(words: string, id: string): ObservationDraft<'error'> {
  return ErrorObservation.create(words, { error_id: id });
}

/** An action that waits for a person's word, added with a new id: as decided, or as the one that is asked about now. */
export function addedAgain(
  action: Action,
  confirmation_state: 'awaiting_confirmation' | 'confirmed' | 'rejected',
  executor?: string,
): SourcedDraft {
  const { id: _id, timestamp: _timestamp, llm_metrics: _metrics, tool_call_metadata: call, reasoning: _reasoning, ...rest } = action;
  const { confirmation_reason, ...draft } = rest;
  const asks = confirmation_state === 'awaiting_confirmation' && confirmation_reason !== undefined && { confirmation_reason };
  const args = { ...action.args, thought: '', confirmation_state };
  const added = { ...draft, args, ...asks, ...(call && { tool_call_metadata: withAnswerReference(call) }) };
  return { ...added, ...(executor && isRunnable(action.action) && { executor }) } as SourcedDraft;
}
