/**
 * What agents wait for to which a conversation's agent has delegated: shown and answered in the conversation at the root, however deep they
 * are. It owns nothing, so nothing is lost with it.
 *
 * D1  A question stands in the log of the conversation that asks, and nowhere else.
 * D2  An answer names the event that it is about. It decides nothing else, and starts no agent that has ended.
 */
import { nextPending, awaitsConfirmation, type Conversation, type SubmitResult } from '@tendon/core';
import {
  catalogError,
  ChangeAgentStateAction,
  isAction,
  MessageAction,
  openhandsV0,
  type Action,
  type ParsedAction,
  type DelegatedAnswer,
  type DelegatedFrame,
  type DelegatedQuestion,
} from '@tendon/protocol';
import type { ConversationRecords, StoredConversation } from '../conversation-records.ts';
import type { FrameListener, OpenConversation } from '../open-conversations.ts';

interface DelegatedQuestionsOptions {
  readonly records: ConversationRecords;
  /** The open ones. */
  readonly open: ReadonlyMap<string, OpenConversation>;
  readonly enter: (id: string) => Promise<{ readonly open: OpenConversation; readonly release: () => void } | undefined>;
}

/** Of the log's end: more than a question and what comes with it. */
const TAIL = 20;
/** When it was closed in another state, nothing waits in it. */
const WAITS: ReadonlySet<string> = new Set(['awaiting_user_confirmation', 'awaiting_user_input']);

export class DelegatedQuestions {
  readonly #options: DelegatedQuestionsOptions;

  constructor(options: DelegatedQuestionsOptions) {
    this.#options = options;
  }

  /** Those of all conversations below this one, the first delegated first. */
  list(id: string): Promise<readonly DelegatedQuestion[]> {
    return this.#below(id, []);
  }

  async #below(id: string, path: DelegatedQuestion['path']): Promise<readonly DelegatedQuestion[]> {
    const { records } = this.#options;
    const found: DelegatedQuestion[] = [];
    for (const childId of await records.delegatedBy(id)) {
      const record = await records.get(childId);
      if (!record) continue;
      const here = [...path, { conversation_id: childId, title: record.title, agent: record.agent }];
      const action = await this.#waiting(record);
      if (action) found.push(shown(childId, here, action));
      found.push(...(await this.#below(childId, here)));
    }
    return found;
  }

  async #waiting({ id, summary }: StoredConversation): Promise<Action | undefined> {
    const { open, enter } = this.#options;
    if (!open.has(id) && summary && !WAITS.has(summary.agent_state)) return undefined;
    const held = await enter(id);
    if (!held) return undefined;
    try {
      return await openQuestion(held.open.conversation);
    } finally {
      held.release();
    }
  }

  /** The answer as the conversation that asks was given it, or why it was not. */
  async answer(rootId: string, id: string, given: DelegatedAnswer): Promise<SubmitResult> {
    const { records, enter } = this.#options;
    const held = (await this.#isBelow(id, rootId)) ? await enter(id) : undefined;
    if (!held) return refused('CONVERSATION_NOT_FOUND', id);
    try {
      await records.mark(id);
      const { conversation } = held.open;
      const question = await openQuestion(conversation);
      if (question?.id !== given.event_id) return refused('ILLEGAL_STATE', question ? OTHER_WAITS : NOTHING_WAITS);
      const action = answerOf(question, given);
      return typeof action === 'string' ? refused('INVALID_ARGUMENTS', action) : await conversation.submit(action);
    } finally {
      held.release();
    }
  }

  async #isBelow(id: string, rootId: string): Promise<boolean> {
    const by = (await this.#options.records.get(id))?.delegated_by?.conversation_id;
    return by !== undefined && (by === rootId || (await this.#isBelow(by, rootId)));
  }

  /** Something may have begun or ended to wait in a conversation that this one delegated. */
  async changed(id: string): Promise<void> {
    const { records, open } = this.#options;
    const looked = open.get(id);
    if (looked) looked.announce(await this.#frame(id));
    const above = (await records.get(id))?.delegated_by?.conversation_id;
    if (above !== undefined) await this.changed(above);
  }

  /** Hands what waits to somebody who has just come; the others were sent it. */
  async show(id: string, to: FrameListener): Promise<void> {
    const frame = await this.#frame(id);
    if (frame.waiting.length > 0) to(frame);
  }

  async #frame(id: string): Promise<DelegatedFrame> {
    const questions = await this.list(id);
    return { volatile: 'delegated', waiting: questions.map(({ conversation_id, event_id }) => ({ conversation_id, event_id })) };
  }
}

/** The action that waits for a person, or the message that offers choices and waits for one of them. */
async function openQuestion({ state, log }: Conversation): Promise<Action | undefined> {
  if (state.agentState === 'awaiting_user_confirmation') {
    const waiting = nextPending(state.pending);
    return waiting && awaitsConfirmation(waiting) ? waiting : undefined;
  }
  if (state.agentState !== 'awaiting_user_input') return undefined;
  const events = await log.read({ from: Math.max(state.lastUserMessageId + 1, log.nextId - TAIL) });
  const last = events.findLast((event) => isAction(event) && event.action === 'message' && event.source === 'agent');
  return last && isAction(last) && offersChoices(last) ? last : undefined;
}

/** A person is asked something, which is more than an answer in words. */
export function offersChoices(action: Action): boolean {
  return action.action === 'message' && action.source === 'agent' && (action.args.choices?.length ?? 0) > 0;
}

const NOTHING_WAITS = 'nothing waits there any more: it was decided already, or the agent that asked has ended';
const OTHER_WAITS = 'something else waits there by now; look at it first';

/** What is submitted, or what is wrong with the answer. */
function answerOf(question: Action, { answer, text = '', edited }: DelegatedAnswer): ParsedAction | string {
  if ((question.action === 'message') !== (answer === 'reply'))
    return question.action === 'message' ? 'answer: a question is answered with reply' : 'answer: an action is approved or rejected';
  if (answer === 'reply') return text.trim() === '' ? 'text: a reply needs words' : MessageAction.create({ content: text });
  if (answer === 'reject') return ChangeAgentStateAction.create({ agent_state: 'user_rejected', thought: text });
  return ChangeAgentStateAction.create({ agent_state: 'user_confirmed', ...(edited !== undefined && { edited }) });
}

function shown(conversation_id: string, path: DelegatedQuestion['path'], action: Action): DelegatedQuestion {
  const [frame = {}] = openhandsV0.encode(action, 'live');
  return {
    conversation_id,
    path,
    kind: action.action === 'message' ? 'question' : 'confirmation',
    event_id: action.id,
    asked_at: action.timestamp,
    action: { ...frame },
  };
}

function refused(...given: Parameters<typeof catalogError>): SubmitResult {
  return { ok: false, error: catalogError(...given) };
}
