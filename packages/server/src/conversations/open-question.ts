/** What a conversation waits for a person to decide or say, and what an answer to it does. */
import { nextPending, awaitsConfirmation, type Conversation, type SubmitResult } from '@tendon/core';
import {
  catalogError,
  ChangeAgentStateAction,
  isAction,
  MessageAction,
  openhandsV0,
  type Action,
  type CatalogError,
  type Event,
  type OpenQuestion,
  type ParsedAction,
  type QuestionAnswer,
} from '@tendon/protocol';

/** Of the log's end: more than a question and what comes with it. */
const TAIL = 20;
/** When it was closed in another state, nothing waits in it. */
export const WAITS: ReadonlySet<string> = new Set(['awaiting_user_confirmation', 'awaiting_user_input']);

/** The action that waits for a person, or the newest of the agent's messages that is a question, while it waits for an answer. */
export async function openQuestion({ state, log }: Conversation, isQuestion: (message: Action) => boolean): Promise<Action | undefined> {
  if (state.agentState === 'awaiting_user_confirmation') {
    const waiting = nextPending(state.pending);
    return waiting && awaitsConfirmation(waiting) ? waiting : undefined;
  }
  if (state.agentState !== 'awaiting_user_input') return undefined;
  const last = agentMessageIn(await sinceUser({ state, log }));
  return last && isQuestion(last) ? last : undefined;
}

/** The last events, back to the last message of the user. */
export function sinceUser({ state, log }: Pick<Conversation, 'state' | 'log'>): Promise<readonly Event[]> {
  return log.read({ from: Math.max(state.lastUserMessageId + 1, log.nextId - TAIL) });
}

/** The newest one. */
export function agentMessageIn(events: readonly Event[]): Action | undefined {
  return events.findLast((event): event is Action => isAction(event) && event.action === 'message' && event.source === 'agent');
}

/** A person is asked something, which is more than an answer in words. */
export function offersChoices(action: Action): boolean {
  return action.action === 'message' && action.source === 'agent' && (action.args.choices?.length ?? 0) > 0;
}

export function shownQuestion(action: Action): OpenQuestion {
  const [frame = {}] = openhandsV0.encode(action, 'live');
  return {
    kind: action.action === 'message' ? 'question' : 'confirmation',
    event_id: action.id,
    asked_at: action.timestamp,
    action: { ...frame },
  };
}

const NOTHING_WAITS = 'nothing waits there any more: it was decided already, or the agent that asked has ended';
const OTHER_WAITS = 'something else waits there by now; look at it first';

/** What is submitted, or why the answer is none to what waits now. */
export function answerTo(question: Action | undefined, given: QuestionAnswer): ParsedAction | CatalogError {
  if (question?.id !== given.event_id) return catalogError('ILLEGAL_STATE', question ? OTHER_WAITS : NOTHING_WAITS);
  const action = actionOf(question, given);
  return typeof action === 'string' ? catalogError('INVALID_ARGUMENTS', action) : action;
}

/** Or what is wrong with the answer. */
function actionOf(question: Action, { answer, text = '', edited }: QuestionAnswer): ParsedAction | string {
  if ((question.action === 'message') !== (answer === 'reply'))
    return question.action === 'message' ? 'answer: a question is answered with reply' : 'answer: an action is approved or rejected';
  if (answer === 'reply') return text.trim() === '' ? 'text: a reply needs words' : MessageAction.create({ content: text });
  if (answer === 'reject') return ChangeAgentStateAction.create({ agent_state: 'user_rejected', thought: text });
  return ChangeAgentStateAction.create({ agent_state: 'user_confirmed', ...(edited !== undefined && { edited }) });
}

export function refused(error: CatalogError): SubmitResult {
  return { ok: false, error };
}
