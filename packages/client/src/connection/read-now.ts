import { actions } from '../actions.ts';
import type { ConversationConnection } from './connect.ts';

/**
 * Has the agent read the newest messages without waiting for the step that runs: the step is stopped, then the agent goes on. A message
 * is in the log before, so nothing is lost when this is cut off in between; the agent is then stopped and can be resumed.
 * `false`: without a connection nothing was asked for. Rejects with the reason of `signal`.
 */
export async function readNow(connection: ConversationConnection, signal: AbortSignal): Promise<boolean> {
  if (!isSent(connection)) await connection.when(() => isSent(connection), signal);
  if (!connection.send(actions.stop())) return false;
  const { state } = await connection.when((now) => RESTS.has(now.state.agentState), signal);
  return state.agentState !== 'stopped' || connection.send(actions.resume());
}

const RESTS: ReadonlySet<string> = new Set(['stopped', 'finished', 'rejected', 'error', 'awaiting_user_input']);

/** Whether the server has all messages. */
function isSent(connection: ConversationConnection): boolean {
  return connection.getSnapshot().outbox.length === 0;
}
