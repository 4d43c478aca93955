/**
 * Makes a conversation that goes on from an event of another.
 *
 * FO1  Its log has the events up to there, under their ids and times; what was unanswered there is answered, and its agent rests.
 * FO2  Its folder is a copy of its own: what either agent does is not seen by the other.
 * FO3  Its record is written last: a fork that was cut off is none, and the next start erases what there was of it.
 */
import type { EventLog, SourcedDraft, Storage } from '@tendon/core';
import { AGENT_STATES, type AgentState, type ConversationState, type Event } from '@tendon/protocol';
import type { SandboxPool } from '@tendon/runtime';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import type { Conversations } from '../conversations/conversations.ts';
import { defaultTitle } from '../conversations/conversation-titles.ts';
import { ownedBy } from '../conversations/new-conversations.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { ForkPoint } from './fork-point.ts';

export interface ForkParts {
  readonly storage: Pick<Storage, 'events'>;
  readonly conversations: Pick<Conversations, 'createFilled'>;
  readonly runtimes: Pick<SandboxPool, 'copyWorkspace'>;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Whose it becomes. */
  readonly by: Caller;
}

export interface Fork {
  readonly record: StoredConversation;
  /** Some of what its folder does not have. */
  readonly left: readonly string[];
}

/** Rejects with a user-facing error, or the storage's; then there is no fork. */
export async function forkConversation(source: StoredConversation, log: EventLog, point: ForkPoint, parts: ForkParts): Promise<Fork> {
  const { storage, conversations, runtimes, signal } = parts;
  let left: readonly string[] = [];
  const record = await conversations.createFilled(async ({ id, workspace }) => {
    const copy = { checkpoint: point.checkpoint, name: id, target: workspace, signal };
    ({ left } = await runtimes.copyWorkspace(source.id, copy));
    await copyEvents(log, await storage.events.open(id), point);
    return { ...forkedRecord(source, point.event, parts.now().toISOString()), ...ownedBy(parts.by), ...named(source, id), id, workspace };
  });
  return { record, left };
}

const PIECE = 200;

async function copyEvents(from: EventLog, to: EventLog, { event, state }: ForkPoint): Promise<void> {
  let last = '';
  while (to.nextId <= event) {
    const events = await from.read({ from: to.nextId, to: Math.min(event + 1, to.nextId + PIECE) });
    last = events.at(-1)!.timestamp;
    await to.append(events.map(draftOf), { expectedId: to.nextId, timestamps: events.map(({ timestamp }) => timestamp) });
  }
  const drafts = restingDrafts(state);
  if (drafts.length > 0) await to.append(drafts, { expectedId: to.nextId, timestamps: drafts.map(() => last) });
}

/** `executor` names the sandbox of the other conversation. */
function draftOf({ id: _id, timestamp: _timestamp, executor: _executor, ...draft }: Event & { readonly executor?: unknown }): SourcedDraft {
  return draft as SourcedDraft;
}

const AT_WORK: ReadonlySet<AgentState> = new Set(
  AGENT_STATES.filter((state) => /^(?:running|rate_limited|awaiting_user_confirmation|user_)/.test(state)),
);

/** The agent waits, and every action has its answer. */
function restingDrafts({ pending, agentState }: ConversationState): readonly SourcedDraft[] {
  const answers = pending.map(({ id }) => ({
    source: 'environment' as const,
    observation: 'error' as const,
    content: 'This action was not carried out in this conversation, which was forked before it was.',
    extras: { error_id: 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED' },
    cause: id,
  }));
  const states: readonly AgentState[] = AT_WORK.has(agentState) || pending.length > 0 ? ['loading', 'awaiting_user_input'] : [];
  return [
    ...answers,
    ...states.map((state) => ({
      source: 'environment' as const,
      observation: 'agent_state_changed' as const,
      content: '',
      extras: { agent_state: state, reason: '' },
    })),
  ];
}

type NamedAndPlaced = 'id' | 'workspace' | 'title';

function forkedRecord(source: StoredConversation, event: number, now: string): Omit<StoredConversation, NamedAndPlaced> {
  const {
    summary: _summary,
    pr_number: _pulls,
    request: _request,
    network_questions: _questions,
    pushed: _pushed,
    delegated_by: _delegated,
    own_copy: _copy,
    model_access: _access, // somebody's key, for that conversation
    ...inherited
  } = source;
  const forked_from = { conversation_id: source.id, event_id: event };
  return { ...inherited, stopped: false, created_at: now, updated_at: now, forked_from };
}

const MAX_TITLE = 200;

function named(source: StoredConversation, id: string): Pick<StoredConversation, 'title'> {
  return { title: source.title === defaultTitle(source.id) ? defaultTitle(id) : `Fork of ${source.title}`.slice(0, MAX_TITLE) };
}
