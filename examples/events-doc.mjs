// A client written from openhands-events.md alone: nothing but its backend settings, `oh_action` and `oh_event`.
//   node examples/events-doc.mjs [http://127.0.0.1:3000]
import assert from 'node:assert/strict';
import { io } from 'socket.io-client';

const { hostname, port, protocol } = new URL(process.argv[2] ?? 'http://127.0.0.1:3000');
const settings = { backend_host: hostname, backend_port: Number(port), use_tls: protocol === 'https:' };

const ACTIONS =
  'null run run_ipython browse browse_interactive read write edit message think delegate finish reject summarize recall change_agent_state';
const OBSERVATIONS =
  'null run run_ipython browse read write edit error success user_rejected agent_state_changed delegate think condense recall';
const known = { action: new Set(ACTIONS.split(' ')), observation: new Set(OBSERVATIONS.split(' ')) };

const socket = io(`http${settings.use_tls ? 's' : ''}://${settings.backend_host}:${settings.backend_port}`, { reconnection: false });
const { promise: rested, resolve, reject } = Promise.withResolvers();
const deadline = setTimeout(() => reject(new Error('the agent did not come to rest within 120 s')), 120_000);
const events = [];
socket.on('connect_error', reject);
socket.on('connect', () => {
  const args = { content: 'write a bash script that prints hello', image_urls: [], wait_for_response: false, security_risk: null };
  socket.emit('oh_action', { action: 'message', args });
});
socket.on('oh_event', (event) => {
  events.push(event);
  console.log(event.source.padEnd(12), event.action ?? event.observation, '-', event.message.slice(0, 80));
  const worked = events.some(({ observation, success }) => observation === 'run' && success);
  if (worked && ['FINISHED', 'AWAITING_USER_INPUT'].includes(event.extras?.agent_state)) resolve();
  if (event.extras?.agent_state === 'ERROR') reject(new Error(event.extras.reason));
});
await rested.finally(() => (clearTimeout(deadline), socket.disconnect()));

for (const event of events) {
  assert.ok(known.action.has(event.action) || known.observation.has(event.observation), `the document knows ${JSON.stringify(event)}`);
  assert.match(event.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  if (event.observation === 'run') assert.equal(typeof event.extras.metadata.username, 'string');
  if (event.observation === 'agent_state_changed') assert.match(event.extras.agent_state, /^[A-Z_]+$/);
}
assert.ok(
  events.some(({ observation, content }) => observation === 'run' && content.includes('hello')),
  'the script printed hello',
);
console.log(`ok: ${events.length} events`);
