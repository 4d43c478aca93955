/** What of a conversation its person is to be notified of, as its log and its record say it now. Nothing else stores it. */
import type { Conversation } from '@tendon/core';
import { isObservation, mayNotify, noticeKind, type Event, type NetworkQuestion, type NoticeKind } from '@tendon/protocol';
import type { Pushed, StoredConversation } from '../conversations/conversation-records.ts';
import { agentMessageIn, offersChoices, openQuestion, sinceUser } from '../conversations/open-question.ts';

export interface DueNotice {
  readonly kind: NoticeKind;
  readonly tag: string;
  /** When it happened. */
  readonly at: string;
  /** What is stored when everybody has it. */
  readonly pushed: Pushed;
}

const NOTHING_PUSHED: Pushed = { event: -1, asked_at: '' };

/** The newest that was not pushed. Of a conversation that was delegated only what waits for a person: the rest is its agent's matter. */
export async function dueNotice(
  record: StoredConversation,
  conversation: Conversation,
  questions: readonly NetworkQuestion[],
): Promise<DueNotice | undefined> {
  const { pushed = NOTHING_PUSHED, id } = record;
  const asked = questions.findLast(({ asked_at }) => asked_at > pushed.asked_at);
  if (asked) return { kind: 'network', tag: `${id} ${asked.host}`, at: asked.asked_at, pushed: { ...pushed, asked_at: asked.asked_at } };
  const found = record.delegated_by ? await waiting(conversation) : await reached(conversation);
  if (!found || found.event.id <= pushed.event) return undefined;
  const { kind, event } = found;
  return { kind, tag: `${id} ${event.id}`, at: event.timestamp, pushed: { ...pushed, event: event.id } };
}

interface Found {
  readonly kind: NoticeKind;
  readonly event: Event;
}

async function waiting(conversation: Conversation): Promise<Found | undefined> {
  const event = await openQuestion(conversation, offersChoices);
  return event && { kind: event.action === 'message' ? 'question' : 'decision', event };
}

async function reached(conversation: Conversation): Promise<Found | undefined> {
  const { agentState } = conversation.state;
  if (agentState === 'awaiting_user_confirmation') return waiting(conversation);
  if (!mayNotify(agentState)) return undefined;
  const tail = await sinceUser(conversation);
  const changes = tail.filter((event) => isObservation(event) && event.observation === 'agent_state_changed');
  const [before, last] = [changes.at(-2), changes.at(-1)];
  const message = agentMessageIn(tail);
  // A message from before it was stopped or paused is nothing new when it waits again.
  const isNew = message !== undefined && message.id > (before?.id ?? -1);
  const kind = noticeKind(agentState, isNew ? message : undefined);
  const event = agentState === 'awaiting_user_input' ? message : last;
  return kind && event && { kind, event };
}
