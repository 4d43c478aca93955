/**
 * Moves one conversation over, through the log's own append.
 *
 * Invariants
 * IM1  Event n of the source is event n of the log; nothing else comes between.
 * IM2  The record is written last: a conversation is listed when all of it is there, and an import that was cut off goes on where it was.
 * IM3  Its agent rests: no action waits for an answer, no loop starts by itself.
 */
import { join } from 'node:path';
import { loggedEvents, type EventLog, type Storage } from '@tendon/core';
import { INITIAL_STATE, reduce, type AgentState, type ConversationState } from '@tendon/protocol';
import { z } from 'zod';
import { type StoredConversation, summaryOf } from '../conversations/conversation-records.ts';
import { defaultTitle, titleFromTask } from '../conversations/conversation-titles.ts';
import { readObject, type Source } from './find-sources.ts';
import { readEvents, type RecordedLog } from './read-events.ts';
import { lostEvent, type ImportedEvent } from './stored-event.ts';

export interface ImportParts {
  readonly storage: Storage;
  readonly now: () => Date;
  /** Makes the folder the agent would work in. Rejects with a user-facing error. */
  readonly workspaceOf: (id: string) => Promise<string>;
  readonly onProblem: (sentence: string) => void;
  /** After each piece. */
  readonly onProgress: (id: string, done: number, of: number) => void;
}

const PIECE = 200;
/** Of a name in the metadata. */
const MAX_TEXT = 500;
const MAX_PULL_REQUESTS = 100;

/** How many events it has; `undefined` when it was here before. Rejects with a user-facing error. */
export async function importConversation(source: Source, parts: ImportParts): Promise<number | undefined> {
  const { storage, workspaceOf } = parts;
  if (await storage.records.get('conversations', source.id)) return undefined;
  const { recorded, metadata } = await readConversation(source, parts.onProblem);
  const log = await storage.events.open(source.id);
  if (log.nextId < recorded.length) await copy(recorded, log, parts);
  const summary = await rest(log);
  const record = { ...recordOf(source.id, metadata, summary), workspace: await workspaceOf(source.id) };
  await storage.records.put('conversations', { id: record.id, sort: record.created_at, value: record });
  return recorded.length;
}

type Metadata = Readonly<Record<string, unknown>>;

/** What there is to move. Rejects with a user-facing error. */
export async function readConversation(
  source: Source,
  onProblem: ImportParts['onProblem'],
): Promise<{ readonly recorded: RecordedLog; readonly metadata: Metadata }> {
  const recorded = await readEvents(source);
  if (recorded.length === 0) throw new Error('it has no events');
  return { recorded, metadata: source.kind === 'folder' ? await metadataOf(source, onProblem) : {} };
}

async function copy(recorded: RecordedLog, log: EventLog, { now, onProblem, onProgress }: ImportParts): Promise<void> {
  let last = (await log.read({ from: log.nextId - 1 })).at(-1)?.timestamp;
  while (log.nextId < recorded.length) {
    const from = log.nextId;
    const to = Math.min(recorded.length, from + PIECE);
    const events: ImportedEvent[] = [];
    for (let id = from; id < to; id++) events.push(await recorded.event(id, onProblem));
    const latest = now().toISOString();
    const first = last ?? events.find(({ timestamp }) => timestamp)?.timestamp ?? latest;
    const timestamps = events.map(({ timestamp }) => (last = earlier(timestamp ?? last ?? first, latest)));
    await append(log, events, timestamps, onProblem);
    onProgress(log.conversationId, to, recorded.length);
  }
}

/** The piece as one commit; when one of it cannot be stored, each alone and an error in the place of that one. */
async function append(
  log: EventLog,
  events: readonly ImportedEvent[],
  timestamps: readonly string[],
  onProblem: (sentence: string) => void,
): Promise<void> {
  const drafts = events.map(({ draft }) => draft);
  try {
    await log.append(drafts, { expectedId: log.nextId, timestamps });
    return;
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
  }
  for (const [index, draft] of drafts.entries()) {
    const id = log.nextId;
    const options = { expectedId: id, timestamps: [timestamps[index]!] };
    await log.append([draft], options).catch((cause: unknown) => {
      if (!(cause instanceof TypeError)) throw cause;
      onProblem(`${log.conversationId}, event ${id}: ${cause.message}`);
      return log.append([lostEvent(id, cause.message).draft], options);
    });
  }
}

const RESTING: ReadonlySet<AgentState> = new Set(['awaiting_user_input', 'paused', 'stopped', 'finished', 'rejected', 'error']);

interface Summary {
  readonly state: ConversationState;
  readonly firstTask: string;
  readonly first: string;
  readonly last: string;
}

/** Whatever was at work when the original ended is answered, and the agent stopped (IM3). */
async function rest(log: EventLog): Promise<Summary> {
  let state = INITIAL_STATE;
  let firstTask = '';
  let first = '';
  let last = '';
  for await (const event of loggedEvents(log)) {
    state = reduce(state, event);
    first ||= event.timestamp;
    last = event.timestamp;
    if (firstTask === '' && event.source === 'user' && 'action' in event && event.action === 'message') firstTask = event.args.content;
  }
  const answers = state.pending.map(({ id }) => ({
    source: 'environment' as const,
    observation: 'error' as const,
    content: 'This action had no result when the conversation was imported.',
    extras: { error_id: 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED' },
    cause: id,
  }));
  const stopped = { source: 'environment' as const, observation: 'agent_state_changed' as const, content: '' };
  const isResting = RESTING.has(state.agentState);
  const end = isResting ? [] : [{ ...stopped, extras: { agent_state: 'stopped' as const, reason: '' } }];
  const drafts = [...answers, ...end];
  if (drafts.length > 0) {
    const added = await log.append(drafts, { expectedId: log.nextId, timestamps: drafts.map(() => last) });
    for (const event of added) state = reduce(state, event);
  }
  return { state, firstTask, first, last };
}

async function metadataOf({ path }: Source, onProblem: ImportParts['onProblem']): Promise<Metadata> {
  const file = join(path, 'metadata.json');
  return (
    (await readObject(file).catch((cause: unknown) => {
      onProblem(`${file}: ${(cause as Error).message}`);
      return undefined;
    })) ?? {}
  );
}

function recordOf(id: string, metadata: Metadata, { state, firstTask, first, last }: Summary): Omit<StoredConversation, 'workspace'> {
  const text = (name: string): string | null =>
    typeof metadata[name] === 'string' && metadata[name] !== '' ? metadata[name].slice(0, MAX_TEXT) : null;
  const time = (name: string): string | undefined => {
    const date = new Date(text(name) ?? Number.NaN);
    return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
  };
  const pulls = z.array(z.number().int().positive()).max(MAX_PULL_REQUESTS).catch([]).parse(metadata.pr_number);
  return {
    id,
    title: text('title')?.slice(0, 200) ?? titleFromTask(firstTask) ?? defaultTitle(id),
    created_at: time('created_at') ?? first,
    updated_at: time('last_updated_at') ?? last,
    agent: 'CodeActAgent',
    // What it was made with may not be set up here: the settings of today choose.
    model: '',
    trigger: text('trigger') ?? 'gui',
    selected_repository: text('selected_repository'),
    selected_branch: text('selected_branch'),
    git_provider: text('git_provider'),
    ...(pulls.length > 0 && { pr_number: pulls }),
    stopped: true,
    summary: summaryOf(state),
  };
}

function earlier(a: string, b: string): string {
  return a < b ? a : b;
}
