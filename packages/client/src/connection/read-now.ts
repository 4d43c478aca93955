import { type AgentState, isAction, isObservation, type Event } from '@tendon/protocol';
import { actions } from '../actions.ts';
import type { ConversationConnection } from './connect.ts';

/**
 * Has the agent read the newest messages without waiting for the step that runs: the step is stopped, then the agent goes on. A message
 * is in the log before, so nothing is lost when this is cut off in between; the agent is then stopped and can be resumed.
 * `false`: without a connection nothing was asked for. Rejects with the reason of `signal`.
 */
export async function readNow(connection: ConversationConnection, signal: AbortSignal): Promise<boolean> {
  if (!isSent(connection)) await connection.when(() => isSent(connection), signal);
  const last = connection.getSnapshot().events.at(-1)?.id ?? -1;
  if (!connection.send(actions.stop())) return false;
  // It is granted in every state: an agent that comes to an end by itself meanwhile is stopped all the same.
  const since = (events: readonly Event[]) => events.filter(({ id }) => id > last);
  const { events, state } = await connection.when(
    (now) => now.state.agentState === 'stopped' || statesOf(since(now.events)).includes('stopped'),
    signal,
  );
  // Not one that somebody else sent on, or stopped, too; and not one that rested, because it had read everything.
  const isLeftTo = state.agentState !== 'stopped' || since(events).filter(isStop).length > 1 || RESTS.has(statesOf(events).at(-2) ?? '');
  return isLeftTo || connection.send(actions.resume());
}

function statesOf(events: readonly Event[]): readonly AgentState[] {
  return events.flatMap((event) => (isObservation(event) && event.observation === 'agent_state_changed' ? event.extras.agent_state : []));
}

function isStop(event: Event): boolean {
  return isAction(event) && event.action === 'change_agent_state' && event.args.agent_state === 'stopped';
}

const RESTS: ReadonlySet<string> = new Set(['stopped', 'finished', 'rejected', 'error', 'awaiting_user_input']);

/** Whether the server has all messages. */
function isSent(connection: ConversationConnection): boolean {
  return connection.getSnapshot().outbox.length === 0;
}
