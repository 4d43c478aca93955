import {
  spentOf,
  StorageError,
  type Clock,
  type Conversation,
  type Delegate,
  type DelegatedTask,
  type Delegation,
  type SubmitResult,
} from '@tendon/core';
import { ChangeAgentStateAction, isAction, isObservation, MessageAction, type AgentState, type Event } from '@tendon/protocol';
import { offersChoices } from '../open-question.ts';
import type { IsolatedCopies } from './isolated-copies.ts';
import { worksReadOnly } from '../agents/agent-of.ts';
import type { Conversations } from '../conversations.ts';
import { rootIdOf, type StoredConversation } from '../conversation-records.ts';

const ENDS: ReadonlySet<AgentState> = new Set(['finished', 'rejected', 'error', 'awaiting_user_input', 'stopped']);

interface DelegationOptions {
  readonly clock: Clock;
  /** For agents that are to work in a copy of the workspace; default: none can. */
  readonly copies?: Pick<IsolatedCopies, 'make' | 'prepare' | 'handOver'> | undefined;
  /** Nobody is there to answer it, so a question ends its work. Default false. */
  readonly isUnattended?: boolean;
}

/**
 * A conversation's agent has another one do a part of its work: in a conversation of its own that clients can open, on the same folder.
 * Its name follows from the action, so that after a crash what was begun is found and not begun again.
 */
export function delegation(
  conversations: Conversations,
  parent: StoredConversation,
  { clock, copies, isUnattended = false }: DelegationOptions,
): Delegate {
  return async (task, { signal }) => {
    const begun = await conversations.findDelegated(parent, task);
    if (!begun && signal.aborted) return CANCELLED;
    const child = begun ?? (await newChild(conversations, parent, task, { copies, signal }));
    if ('reason' in child) return child;
    const held = await conversations.enter(child.id);
    if (!held) return { ok: false, reason: 'its conversation was deleted.' };
    const { conversation } = held.open;
    const { leftSteps, leftUsd } = task;
    const spentUsd = conversation.state.metrics ? spentOf(conversation.state.metrics) : 0;
    const leave = conversations.budgets.join(
      { root: rootIdOf(parent), parent: parent.id, child: child.id },
      { leftSteps, leftUsd, spentUsd },
    );
    const stop = (): Promise<SubmitResult> => conversation.submit(ChangeAgentStateAction.create({ agent_state: 'stopped' }));
    signal.addEventListener('abort', stop, { once: true });
    const limit = timeLimit(task.endsAt, clock, stop);
    try {
      if (conversation.state.lastUserMessageId < 0) {
        const words = child.own_copy === 'used' && copies ? await prepared(child, copies, signal) : '';
        if (signal.aborted || typeof words !== 'string') {
          await conversations.delete(child.id); // with its copy
          return typeof words !== 'string' && !signal.aborted ? words : CANCELLED;
        }
        const content = words === '' ? task.task : `${task.task}\n\n${words}`;
        const submitted = stored(await conversations.submit(child.id, MessageAction.create({ content })));
        if (!submitted.ok) return { ok: false, reason: submitted.error.message };
      } else if (signal.aborted && !ENDS.has(conversation.state.agentState)) stored(await stop());
      conversation.wake();
      limit.start();
      const done = await report(conversation, held.open.ended, { isUnattended, onState: () => conversations.delegated.changed(parent.id) });
      const isCut = limit.isOver && done.ok && done.outputs.agent_state === 'stopped';
      const ended = isCut ? { ...done, report: `${TIME_OVER} ${done.report || '(nothing)'}` } : done;
      return child.own_copy && copies ? await copies.handOver(child, ended, { signal }) : ended;
    } finally {
      void conversations.delegated.changed(parent.id).catch(() => undefined);
      signal.removeEventListener('abort', stop);
      limit.end();
      leave();
      held.release();
    }
  };
}

interface CopyOptions extends Pick<DelegationOptions, 'copies'> {
  readonly signal: AbortSignal;
}

type NotBegun = Extract<Delegation, { readonly ok: false }>;

const notCopied = (cause: unknown): NotBegun => ({
  ok: false,
  reason: `the workspace could not be copied for it (${wordsOfError(cause)}). Without isolated it works in this one.`,
});

/** The conversation of the other agent, or why there is none. One that changes nothing needs no copy. */
async function newChild(
  conversations: Conversations,
  parent: StoredConversation,
  task: DelegatedTask,
  { copies, signal }: CopyOptions,
): Promise<StoredConversation | NotBegun> {
  const found = await conversations.agents.find(parent, task.agent);
  if ('code' in found) return { ok: false, reason: found.message };
  const params = { ...found, actionId: task.actionId };
  const reads = worksReadOnly({ ...found, read_only: parent.read_only }) || worksReadOnly(conversations.agents.now(parent));
  if (!task.isIsolated || reads) return conversations.createDelegated(parent, params);
  if (!copies) return notCopied('sandboxes of this server do not allow it');
  try {
    return await conversations.createDelegated(parent, { ...params, copy: (place) => copies.make(place, { signal }) });
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    return signal.aborted ? CANCELLED : notCopied(cause);
  }
}

/** Words about its copy, for its agent. */
async function prepared(
  child: StoredConversation,
  copies: NonNullable<CopyOptions['copies']>,
  signal: AbortSignal,
): Promise<string | NotBegun> {
  try {
    return await copies.prepare(child, { signal });
  } catch (cause) {
    return notCopied(cause);
  }
}

function wordsOfError(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

const TIME_OVER = 'It was stopped, because its time was over. Its last words:';

/** Stops the work at that time, once. */
function timeLimit(endsAt: Date | undefined, clock: Clock, stop: () => Promise<SubmitResult>) {
  const ended = new AbortController();
  const over = async (at: Date): Promise<void> => {
    await clock.sleep(Math.max(0, at.getTime() - clock.now().getTime()), { signal: ended.signal });
    limit.isOver = true;
    await stop();
  };
  const start = (): void => void (endsAt && over(endsAt).catch(() => undefined)); // rejects when it ended before
  const limit = { isOver: false, start, end: () => ended.abort() };
  return limit;
}

const CANCELLED: NotBegun = { ok: false, reason: 'it was cancelled.' };

/** A client hears at once that there is no space; an agent waits until there is. */
function stored(result: SubmitResult): SubmitResult {
  if (!result.ok && result.error.code === 'STORAGE_FAILED') throw new StorageError('undone', result.error.message);
  return result;
}

interface ReportOptions {
  readonly isUnattended: boolean;
  readonly onState: () => Promise<void>;
}

/** Waits until the other agent rests; resolves with its last message. What it asks a person is no rest: see `DelegatedQuestions`. */
async function report(conversation: Conversation, ended: AbortSignal, { isUnattended, onState }: ReportOptions): Promise<Delegation> {
  const { id, log, state } = conversation;
  let lastMessage = '';
  let asks = false;
  for await (const event of log.follow(state.lastUserMessageId + 1, { signal: ended })) {
    lastMessage = wordsOf(event) ?? lastMessage;
    if (isAction(event) && event.action === 'message') asks = offersChoices(event);
    if (!isObservation(event) || event.observation !== 'agent_state_changed') continue;
    const { agent_state, reason } = event.extras;
    await onState();
    if (!ENDS.has(agent_state) || (agent_state === 'awaiting_user_input' && asks && !isUnattended)) continue;
    const outputs = { content: lastMessage || reason, agent_state, conversation_id: id };
    const { accumulated_cost: costUsd = 0, unpriced_tokens: unpricedTokens } = conversation.state.metrics ?? {};
    return { ok: true, report: outputs.content, outputs, costUsd, unpricedTokens };
  }
  return { ok: false, reason: 'its conversation was closed.' };
}

function wordsOf(event: Event): string | undefined {
  if (!isAction(event) || event.source !== 'agent') return undefined;
  if (event.action === 'finish') return event.args.final_thought;
  if (event.action === 'reject') return String(event.args.outputs.reason ?? event.args.thought);
  return event.action === 'message' ? event.args.content : undefined;
}
