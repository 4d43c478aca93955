/**
 * Owns the question about an action that waits.
 *
 * AD1  What was typed before the question appeared decides nothing, and an answer names the action that was shown.
 * AD2  Each action is asked about once, unless its answer did not arrive.
 */
import type { ConversationConnection, Rest } from '@tendon/client';
import type { Action, QuestionAnswer } from '@tendon/protocol';
import type { Line } from '../run/describe-event.ts';
import { spelled, spelledLine } from '../terminal/printable.ts';
import { decisionWords, isHighRisk, waitingAction, whyWords } from '../terminal/waiting.ts';
import { LINE_END } from './chat-input.ts';
import { answerLine, decisionReply } from './decision-reply.ts';
import type { Expected } from './expected.ts';

/** The chat in which it is asked. */
export interface DecisionPlace {
  readonly rest: Rest;
  readonly connection: ConversationConnection | undefined;
  say(text: string): void;
  line(line: Line): void;
  /** `text`: what the line begins with, instead of what is typed already. */
  expect(expected: Expected, text?: string): void;
  send(text: string): Promise<void>;
  /** The answer is on its way. */
  answered(): void;
  /** It did not arrive. */
  unanswered(error: Error): void;
}

export class AskedDecision {
  readonly #place: DecisionPlace;
  #askedAbout = -1;

  constructor(place: DecisionPlace) {
    this.#place = place;
  }

  /** AD2: asks about the same action again. */
  reset(): void {
    this.#askedAbout = -1;
  }

  /** Asks about the action that waits, unless it was asked about before. */
  ask(): void {
    const { connection } = this.#place;
    const action = connection && waitingAction(connection.getSnapshot().state);
    if (!action || action.id === this.#askedAbout) return;
    this.#askedAbout = action.id;
    const { question, what } = decisionWords(action);
    const why = whyWords(action);
    this.#place.line({ tone: 'act', text: `◇ ${spelledLine(question)}${why === '' ? '' : `  (${spelledLine(why)})`}` });
    for (const line of spelled(what).split('\n')) this.#place.line({ tone: 'context', text: `    ${line}` });
    this.#place.say(answerLine(action));
    this.#place.expect({ state: 'decision', action }, ''); // AD1
  }

  async take(action: Action, line: string): Promise<void> {
    const reply = decisionReply(line, isHighRisk(action));
    const { what, canEdit } = decisionWords(action);
    if (reply.do === 'approve') return this.#answer(action, { answer: 'approve' });
    if (reply.do === 'reject') return this.#answer(action, { answer: 'reject', text: reply.reason });
    if (reply.do === 'always') return this.#always(action);
    if (reply.do === 'say') return this.#place.send(reply.text);
    if (reply.do === 'edit' && canEdit && spelled(what) === what && !/[\n\t]/.test(what) && !what.includes(LINE_END))
      return this.#place.expect({ state: 'edit', action }, what);
    if (reply.do === 'edit')
      this.#place.say(canEdit ? 'It is more than one plain line: edit it in the page (/open).' : 'It cannot be edited.');
    if (reply.do === 'ask-again') this.#place.say(answerLine(action));
    this.#place.expect({ state: 'decision', action });
  }

  async takeEdited(action: Action, line: string): Promise<void> {
    // The person did not edit it: the decision is about the original action.
    if (line.trim() === '' || line === decisionWords(action).what) return this.#place.expect({ state: 'decision', action });
    await this.#answer(action, { answer: 'approve', edited: line });
  }

  /** Another client may have decided about it, and another action may wait. */
  async #answer({ id }: Action, answer: Omit<QuestionAnswer, 'event_id'>): Promise<void> {
    const connection = this.#place.connection!;
    this.#place.answered();
    try {
      await this.#place.rest.conversations.answer(connection.conversationId, { event_id: id, ...answer });
    } catch (error) {
      if (connection === this.#place.connection) this.#place.unanswered(error as Error);
    }
  }

  async #always(action: Action): Promise<void> {
    const { connection, rest } = this.#place;
    const id = connection!.conversationId;
    const { mode, suggestions } = await rest.conversations.confirmation(id);
    if (mode === 'always' || suggestions.length === 0) {
      this.#place.say('No rule can allow this: each one is asked about.');
      return this.#place.expect({ state: 'decision', action });
    }
    // The suggestions are about the waiting action, which may be another one by now.
    if ((await rest.conversations.question(id))?.event_id !== action.id) throw new Error('That was decided already.');
    await rest.conversations.addRules(id, suggestions);
    const names = suggestions.map(({ tool, command, path, host }) => [tool, command, path, host].filter(Boolean).join(' '));
    this.#place.say(`From now on allowed in this conversation: ${spelled(names.join(', '))}`);
    await this.#answer(action, { answer: 'approve' });
  }
}
