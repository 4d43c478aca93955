// What a frontend of OpenHands 0.62 does: make a conversation, watch it, go away, come back and see the same events.
//   node examples/socket-io.mjs [http://127.0.0.1:3000]
import assert from 'node:assert/strict';
import { io } from 'socket.io-client';

const base = process.argv[2] ?? 'http://127.0.0.1:3000';
const body = JSON.stringify({ initial_user_msg: 'write a bash script that prints hello' });
const answer = await fetch(`${base}/api/conversations`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
const { conversation_id } = await answer.json();
assert.match(conversation_id, /^[0-9a-f]{32}$/);

const ENDS = new Set(['finished', 'awaiting_user_input']);

/** Events by id, until the agent has worked and rests. */
async function watch(latest_event_id) {
  const query = { conversation_id, latest_event_id, providers_set: '', session_api_key: 'null' };
  const socket = io(base, { transports: ['websocket'], reconnection: false, query });
  const { promise, resolve, reject } = Promise.withResolvers();
  const deadline = setTimeout(() => reject(new Error('the agent did not come to rest within 120 s')), 120_000);
  const events = new Map();
  socket.on('connect_error', reject);
  socket.on('oh_event', (event) => {
    if (event.status_update) return;
    assert.ok(!events.has(event.id), `event ${event.id} came twice`);
    events.set(event.id, event);
    if (event.extras?.agent_state === 'error') reject(new Error(event.extras.reason));
    const worked = [...events.values()].some(({ observation, extras }) => observation === 'run' && extras.metadata.exit_code === 0);
    if (event.observation === 'agent_state_changed' && ENDS.has(event.extras.agent_state) && worked) resolve();
  });
  await promise.finally(() => (clearTimeout(deadline), socket.disconnect()));
  return events;
}

const live = await watch(-1);
for (const { id, source, message, timestamp } of live.values()) {
  assert.ok(Number.isInteger(id) && ['agent', 'user', 'environment'].includes(source) && typeof message === 'string');
  assert.ok(timestamp.endsWith('Z'), 'times are UTC and say so');
}
const run = [...live.values()].find(({ observation, content }) => observation === 'run' && content.includes('hello'));
assert.equal(live.get(run.cause)?.action, 'run', 'an observation names its action');

const replayed = await watch(-1);
const STATES = ({ observation }) => observation === 'agent_state_changed';
for (const [id, event] of replayed) {
  if (live.has(id)) assert.equal(event.message, live.get(id).message, `event ${id} is the same after a reconnect`);
}
assert.equal([...replayed.values()].filter(STATES).length, 1, 'a replay shows one state, the last');
console.log(`ok: ${live.size} events live, ${replayed.size} replayed`);
