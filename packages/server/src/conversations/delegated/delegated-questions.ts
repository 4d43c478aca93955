/**
 * What agents wait for to which a conversation's agent has delegated: shown and answered in the conversation at the root, however deep they
 * are. It owns nothing, so nothing is lost with it.
 *
 * DQ1  A question stands in the log of the conversation that asks, and nowhere else.
 * DQ2  An answer names the event that it is about. It decides nothing else, and starts no agent that has ended.
 */
import type { SubmitResult } from '@tendon/core';
import {
  catalogError,
  type Action,
  type QuestionAnswer,
  type DelegatedConversations,
  type DelegatedFrame,
  type DelegatedQuestion,
} from '@tendon/protocol';
import { authorOf, type Caller } from '../../platform/auth/caller.ts';
import type { ConversationRecords, StoredConversation } from '../conversation-records.ts';
import type { FrameListener, OpenConversation } from '../open-conversations.ts';
import { answerTo, offersChoices, openQuestion, refused, shownQuestion, WAITS } from '../open-question.ts';

interface DelegatedQuestionsOptions {
  readonly records: ConversationRecords;
  /** The open ones. */
  readonly open: ReadonlyMap<string, OpenConversation>;
  readonly enter: (id: string) => Promise<{ readonly open: OpenConversation; readonly release: () => void } | undefined>;
}

export class DelegatedQuestions {
  readonly #options: DelegatedQuestionsOptions;

  constructor(options: DelegatedQuestionsOptions) {
    this.#options = options;
  }

  /** The conversations right below this one. */
  async children(id: string): Promise<DelegatedConversations['delegated']> {
    const { records } = this.#options;
    const found = await Promise.all((await records.delegatedBy(id)).map((childId) => records.get(childId)));
    return found.flatMap((record) =>
      record?.delegated_by
        ? [{ conversation_id: record.id, action_id: record.delegated_by.action_id, title: record.title, agent: record.agent }]
        : [],
    );
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
      if (action) found.push({ conversation_id: childId, path: here, ...shownQuestion(action) });
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
      return await openQuestion(held.open.conversation, offersChoices);
    } finally {
      held.release();
    }
  }

  /** The answer as the conversation that asks was given it, or why it was not. */
  async answer(rootId: string, id: string, given: QuestionAnswer, by?: Caller): Promise<SubmitResult> {
    const author = authorOf(by);
    const { records, enter } = this.#options;
    const held = (await this.#isBelow(id, rootId)) ? await enter(id) : undefined;
    if (!held) return refused(catalogError('CONVERSATION_NOT_FOUND', id));
    try {
      await records.mark(id);
      const { conversation } = held.open;
      const action = answerTo(await openQuestion(conversation, offersChoices), given);
      return 'code' in action ? refused(action) : await conversation.submit({ ...action, ...(author && { author }) }, given.event_id);
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
