import { type AgentState, fromJson } from '@tendon/protocol';
import { INITIAL_STATE, reduce } from '@tendon/protocol/reduce';
import { expect, it } from 'vitest';
import type { ActionPayload } from '../actions.ts';
import type { ConversationConnection, ConversationSnapshot } from './connect.ts';
import { readNow } from './read-now.ts';
import { SnapshotStore } from './snapshot-store.ts';

const stateOf = (agent_state: AgentState) => ({
  ...{ source: 'environment', observation: 'agent_state_changed', content: '', extras: { agent_state } },
});

/** A log that is fed by hand, and what is asked of its agent. */
function fed(...states: readonly AgentState[]) {
  const events: ReturnType<typeof fromJson>[] = [];
  const sent: unknown[] = [];
  const store = new SnapshotStore(
    () => ({ events: [...events], state: events.reduce(reduce, INITIAL_STATE), outbox: [] }) as unknown as ConversationSnapshot,
    0,
  );
  const log = (...added: readonly object[]) => {
    for (const json of added) events.push(fromJson({ id: events.length, timestamp: '', ...json }));
    store.publish();
  };
  const become = (state: AgentState) => log(stateOf(state));
  const connection = {
    getSnapshot: store.getSnapshot,
    when: (accepts: (snapshot: ConversationSnapshot) => boolean, signal: AbortSignal) => store.when(accepts, signal),
    send: (payload: ActionPayload) => sent.push(payload.args.agent_state) > 0,
  } as unknown as ConversationConnection;
  states.forEach(become);
  const asked = () => log({ source: 'user', action: 'change_agent_state', args: { agent_state: 'stopped' } });
  return { connection, sent, become, asked, log };
}

const never = new AbortController().signal;

it('CL1191: an agent that came to an end just before the stop reached it goes on, whatever it did in between', async () => {
  const { connection, sent, become, asked } = fed('running');
  const done = readNow(connection, never);
  become('awaiting_user_input');
  become('running');
  asked();
  become('stopped');
  expect([await done, sent]).toEqual([true, ['stopped', 'running']]);
});

it('CL1191: one that had read everything and rests is not called again', async () => {
  const { connection, sent, become, asked } = fed('running');
  const done = readNow(connection, never);
  become('finished');
  asked();
  become('stopped');
  expect([await done, sent]).toEqual([true, ['stopped']]);
});

it('CL1191: a stop of somebody else in between stands', async () => {
  const { connection, sent, become, asked } = fed('running');
  const done = readNow(connection, never);
  asked();
  asked();
  become('stopped');
  expect([await done, sent]).toEqual([true, ['stopped']]);
});

it('CL1191: one that a message of somebody else sent on is not waited for', async () => {
  const { connection, sent, asked, log } = fed('running');
  const done = readNow(connection, never);
  asked();
  log(stateOf('stopped'), stateOf('running'));
  expect([await done, sent]).toEqual([true, ['stopped']]);
});
