/** Finds the conversations that nobody has used for a number of days, and why some of them stay. Changes nothing. */
import type { Scheduler } from '@tendon/core';
import { isActive, type AgentState, type OldConversation, type SparedReason } from '@tendon/protocol';
import { allConversations, type ConversationCursor } from '../conversations/all-conversations.ts';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import type { Conversations } from '../conversations/conversations.ts';

export interface OldConversationsParts {
  readonly conversations: Pick<Conversations, 'get' | 'list' | 'log' | 'delegatedBy' | 'ends'>;
  readonly scheduler: Pick<Scheduler, 'find'>;
}

export interface LookedAt {
  readonly record: StoredConversation;
  /** Unset when the conversation was used, or is deleted with the one that delegated it. */
  readonly old?: OldConversation;
}

const DAY_MS = 86_400_000;

/** The time `days` days before now. */
export function beforeDays(days: number, now: Date): string {
  return new Date(now.getTime() - days * DAY_MS).toISOString();
}

/** Looks at all conversations created before this time, newest first, starting after the cursor. */
export async function* lookAtAll(
  parts: OldConversationsParts,
  before: string,
  cursor: ConversationCursor = { sort: before, id: '' },
): AsyncGenerator<LookedAt> {
  for await (const record of allConversations(parts.conversations, { before: cursor })) {
    const old = await lookAt(record, before, parts);
    yield { record, ...(old && { old }) };
  }
}

async function lookAt(record: StoredConversation, before: string, parts: OldConversationsParts): Promise<OldConversation | undefined> {
  const { delegated_by: by, id, title, created_at, organisation_id } = record;
  if (by && (await parts.conversations.get(by.conversation_id))) return undefined;
  const group = await groupOf(record, before, parts);
  if (!group) return undefined;
  const stays = record.is_pinned ? 'pinned' : await whyAnyStays(group.members, parts);
  return {
    conversation_id: id,
    title,
    created_at,
    last_event_at: group.lastEventAt,
    ...(organisation_id !== undefined && { organisation_id }),
    ...(stays && { stays }),
  };
}

interface Group {
  readonly members: readonly StoredConversation[];
  readonly lastEventAt: string;
}

/** The conversation with all that it delegated; `undefined` when one of them was used since. */
async function groupOf(record: StoredConversation, before: string, parts: OldConversationsParts): Promise<Group | undefined> {
  const last = await lastEventAt(record, before, parts);
  if (last >= before) return undefined;
  const members = [record];
  let newest = last;
  for (const id of await parts.conversations.delegatedBy(record.id)) {
    const child = await parts.conversations.get(id);
    if (!child) continue;
    const below = await groupOf(child, before, parts);
    if (!below) return undefined;
    members.push(...below.members);
    if (below.lastEventAt > newest) newest = below.lastEventAt;
  }
  return { members, lastEventAt: newest };
}

/** Reads the log too: the agent may have gone on after the record was last updated. */
async function lastEventAt(
  { id, updated_at }: StoredConversation,
  before: string,
  { conversations }: OldConversationsParts,
): Promise<string> {
  if (updated_at >= before) return updated_at;
  const log = await conversations.log(id);
  const [last] = log && log.nextId > 0 ? await log.read({ from: log.nextId - 1, limit: 1 }) : [];
  return last && last.timestamp > updated_at ? last.timestamp : updated_at;
}

async function whyAnyStays(members: readonly StoredConversation[], parts: OldConversationsParts): Promise<SparedReason | undefined> {
  for (const member of members) {
    const why = await whyItStays(member, parts);
    if (why) return why;
  }
  return undefined;
}

async function whyItStays({ id, summary, stopped }: StoredConversation, parts: OldConversationsParts): Promise<SparedReason | undefined> {
  const { conversations, scheduler } = parts;
  if ((await scheduler.find(id)).at === 'peer') return 'of another server';
  const state = summary?.agent_state as AgentState | undefined;
  if (!stopped && state === 'awaiting_user_confirmation') return 'waits for a decision';
  const use = await conversations.ends.useOf(id);
  if (use === 'open') return 'open';
  if (!stopped && state !== undefined && isActive(state)) return 'at work';
  // A new conversation is marked before its first event: that does not mean that its agent works.
  return use === 'marked' && ((await conversations.log(id))?.nextId ?? 0) > 0 ? 'at work' : undefined;
}
