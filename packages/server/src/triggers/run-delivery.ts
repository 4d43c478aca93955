/**
 * Carries out one delivery: conversation, result, comment. Each step is durable before the next and picks up what an earlier attempt left,
 * so a delivery that continues after a crash still has one conversation and one comment.
 */
import { MessageAction, isAction, isObservation, type AgentState, type Event } from '@tendon/protocol';
import { loggedIdOf, type Clock, type EventLog } from '@tendon/core';
import type { Mask } from '@tendon/protocol/masking';
import type { Conversations } from '../conversations/conversations.ts';
import type { Caller } from '../platform/auth/caller.ts';
import { readRepository } from '../git-providers/repository-source.ts';
import type { OwnedGitAccounts } from '../git-providers/owned-git-accounts.ts';
import type { DeliveryStore, StoredDelivery } from './delivery-store.ts';
import { postResult } from './post-result.ts';
import type { StoredTrigger, TriggerStore } from './trigger-store.ts';

export interface DeliveryPorts {
  readonly store: Pick<TriggerStore, 'find'>;
  readonly deliveries: DeliveryStore;
  readonly conversations: Conversations;
  readonly gitAccounts: Pick<OwnedGitAccounts, 'of'>;
  readonly clock: Clock;
  readonly mask: Pick<Mask, 'text'>;
}

/** The last two wait for a person, who reads the comment and can continue in the conversation. */
const ENDS: ReadonlySet<AgentState> = new Set([
  'finished',
  'rejected',
  'error',
  'stopped',
  'awaiting_user_input',
  'awaiting_user_confirmation',
]);

interface WorkOptions {
  readonly signal: AbortSignal;
  /** Called when a person pauses the agent, perhaps for a long time. */
  readonly onPause: () => void;
}

/** The part that needs a sandbox and a model. `undefined`: the delivery was removed. Rejects when `signal` aborts. */
export async function workOn(delivery: StoredDelivery, ports: DeliveryPorts, options: WorkOptions): Promise<StoredDelivery | undefined> {
  const begun = delivery.state === 'accepted' ? await begin(delivery, ports) : delivery;
  return begun?.state === 'working' ? await follow(begun, ports, options) : begun;
}

/** Posts the result, which may wait long for a provider. */
export async function report(delivery: StoredDelivery, ports: DeliveryPorts, signal: AbortSignal): Promise<void> {
  if (delivery.state === 'posting') await postResult(delivery, ports, signal);
}

async function begin(delivery: StoredDelivery, ports: DeliveryPorts): Promise<StoredDelivery | undefined> {
  const { deliveries, conversations, gitAccounts, store } = ports;
  const { id, task } = delivery;
  const trigger = await store.find(delivery.trigger);
  const fail = (detail: string) => deliveries.change(delivery, { state: 'failed', detail });
  if (!task || !trigger) return fail('its trigger was removed');
  const { repository, branch, git_provider: provider, content } = task;
  const read = repository === null ? undefined : readRepository({ repository, branch, provider }, gitAccounts.of(trigger));
  if (read?.ok === false) return fail(`repository: ${read.problem}`);
  const created = await conversations.create({
    request: { id, digest: id },
    by: ownerOf(trigger),
    repository,
    branch,
    gitProvider: provider,
    trigger: trigger.kind === 'github' || trigger.kind === 'gitlab' ? 'mention' : trigger.kind,
    ...(trigger.agent !== null && { agent: trigger.agent }),
  });
  // Another server continues it.
  if (!created.ok && created.error.code === 'SERVER_DRAINING') return undefined;
  if (!created.ok) return fail(created.error.message);
  const log = await conversations.log(id);
  if (log && (await loggedIdOf(log, id)) === undefined) {
    const submitted = await conversations.submit(id, { ...MessageAction.create({ content }), client_id: id });
    if (!submitted.ok) return fail(submitted.error.message);
  }
  return deliveries.change(delivery, { state: 'working', conversation_id: id });
}

/** The conversations of a trigger belong to the user who made it. */
function ownerOf({ id, organisation_id: organisationId, created_by: user }: StoredTrigger): Caller | undefined {
  return (
    user && { userId: user.id, userName: user.name, ...(organisationId && { organisationId }), keyName: `trigger ${id}`, scope: 'drive' }
  );
}

interface Outcome {
  readonly state: AgentState;
  readonly words: string;
}

async function follow(
  delivery: StoredDelivery,
  ports: DeliveryPorts,
  { signal, onPause }: WorkOptions,
): Promise<StoredDelivery | undefined> {
  const { deliveries, conversations } = ports;
  for (;;) {
    signal.throwIfAborted();
    const held = await conversations.enter(delivery.id);
    if (!held) return deliveries.change(delivery, { state: 'failed', detail: 'its conversation was deleted' });
    try {
      const { conversation, ended } = held.open;
      conversation.wake();
      const outcome = await outcomeOf(conversation.log, delivery.id, { signal: AbortSignal.any([signal, ended]), onPause });
      if (outcome === undefined) continue; // the conversation was closed: its log has the reason, or it is opened again
      const { state: agent_state, words: result } = outcome;
      const state = delivery.task?.post_to ? 'posting' : 'done';
      return await deliveries.change(delivery, { state, agent_state, result });
    } finally {
      held.release();
    }
  }
}

/** The first state after the task in which the agent rests. */
async function outcomeOf(log: EventLog, clientId: string, { signal, onPause }: WorkOptions): Promise<Outcome | undefined> {
  const task = await loggedIdOf(log, clientId);
  if (task === undefined) return { state: 'error', words: 'The task is no longer in the conversation.' };
  let last = '';
  for await (const event of log.follow(task + 1, { signal })) {
    last = wordsOf(event) ?? last;
    if (!isObservation(event) || event.observation !== 'agent_state_changed') continue;
    const { agent_state: state, reason } = event.extras;
    if (state === 'paused') onPause();
    if (ENDS.has(state)) return { state, words: resultWords(state, last, reason ?? '') };
  }
  return undefined;
}

function wordsOf(event: Event): string | undefined {
  if (!isAction(event) || event.source !== 'agent') return undefined;
  if (event.action === 'finish') return event.args.final_thought;
  if (event.action === 'reject') return String(event.args.outputs.reason ?? event.args.thought);
  return event.action === 'message' ? event.args.content : undefined;
}

function resultWords(state: AgentState, last: string, reason: string): string {
  if (state === 'error') return `The agent ended with an error: ${reason || 'no reason is known'}`;
  if (state === 'stopped') return 'The agent was stopped before it was done.';
  if (state === 'awaiting_user_confirmation') return `${last}\n\nThe agent waits until a person approves its next action.`.trim();
  return last.trim() || reason || 'The agent ended without a message.';
}
