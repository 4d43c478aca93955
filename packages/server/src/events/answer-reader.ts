/**
 * Restores the model's answers in events that only refer to them (`model-answer.ts`). Owns the last answer it met, and nothing of
 * the log: a reader that begins in the middle of an answer finds the rest of it before its first event.
 */
import type { EventLog } from '@tendon/core';
import { answerOf, answerReferredTo, withAnswer, type AnswerExtent, type Event, type ModelResponse } from '@tendon/protocol';

/** An answer has at most 64 calls; with more events than this between theirs, the answer counts as missing. */
const MAX_EVENTS_BACK = 2_000;
/** The first event is mostly the one before. */
const FIRST_PAGE = 8;
const MAX_PAGE = 128;

interface Met {
  readonly id: string;
  /** The event that holds it. Some model servers give every answer the same id: an event means the last one before it. */
  readonly at: number;
  readonly answer: ModelResponse | undefined;
}

export class AnswerReader {
  readonly #log: EventLog;
  #last: Met | undefined;

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** The caller must pass consecutive events, in the order of the log or against it, from any event on. */
  async fill(event: Event, extent: AnswerExtent): Promise<Event> {
    const answer = answerOf(event);
    if (answer) this.#last = { id: answer.id, at: event.id, answer };
    const id = answerReferredTo(event);
    if (id === undefined) return event;
    const known = this.#last?.id === id && this.#last.at < event.id ? this.#last : await this.#find(id, event.id);
    this.#last = known;
    return withAnswer(event, known.answer, extent);
  }

  async #find(id: string, before: number): Promise<Met> {
    const from = Math.max(0, before - MAX_EVENTS_BACK);
    let page = FIRST_PAGE;
    for (let to = before; to > from; page = Math.min(4 * page, MAX_PAGE)) {
      const events = await this.#log.read({ from: Math.max(from, to - page), to, reverse: true });
      for (const event of events) {
        const answer = answerOf(event);
        if (answer?.id === id) return { id, at: event.id, answer };
      }
      to -= page;
    }
    return { id, at: from - 1, answer: undefined };
  }
}
