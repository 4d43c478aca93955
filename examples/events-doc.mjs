// A client written from openhands-events.md alone: its backend settings, `oh_action` out, `oh_event` in, and a line for each of its
// sixteen actions and fifteen observations.
//   node examples/events-doc.mjs [http://127.0.0.1:3000]              a task, from the first message to the end
//   node examples/events-doc.mjs http://127.0.0.1:3000 --talk         what is typed is said; a line of JSON is sent as the action it is
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { io } from 'socket.io-client';

const { hostname, port, protocol } = new URL(process.argv[2] ?? 'http://127.0.0.1:3000');
const settings = { backend_host: hostname, backend_port: Number(port), use_tls: protocol === 'https:' };
const isTalk = process.argv.includes('--talk');

/** Every kind of the document: what a person is shown of it. */
const ACTIONS = {
  null: () => 'nothing',
  run: ({ command, is_input }) => (is_input ? `types ${JSON.stringify(command)}` : `$ ${command}`),
  run_ipython: ({ code }) => `>>> ${code}`,
  browse: ({ url }) => `opens ${url}`,
  browse_interactive: ({ browser_actions }) => `in the browser: ${browser_actions}`,
  read: ({ path, start, end }) => `reads ${path} ${start}–${end}`,
  write: ({ path, content }) => `writes ${content.length} characters to ${path}`,
  edit: ({ path, command }) => `edits ${path} (${command ?? 'draft'})`,
  message: ({ content, image_urls }) => `says: ${content}${image_urls?.length ? ` (${image_urls.length} pictures)` : ''}`,
  think: ({ thought }) => `thinks: ${thought}`,
  delegate: ({ agent, inputs }) => `asks ${agent}: ${inputs.task ?? ''}`,
  finish: ({ final_thought, task_completed }) => `is done (${task_completed}): ${final_thought}`,
  reject: ({ outputs }) => `declines: ${outputs.reason ?? ''}`,
  summarize: ({ summary }) => `summarizes: ${summary}`,
  recall: ({ query }) => `recalls ${query}`,
  change_agent_state: ({ agent_state }) => `asks for the state ${agent_state}`,
};
const OBSERVATIONS = {
  null: () => 'nothing',
  run: ({ content, extras }) => `exit code ${extras.metadata.exit_code}: ${content}`,
  run_ipython: ({ content }) => content,
  browse: ({ extras }) => `${extras.url}${extras.error ? ` failed: ${extras.last_browser_action_error}` : ''}`,
  read: ({ content, extras }) => `${extras.path}: ${content}`,
  write: ({ extras }) => `wrote ${extras.path}`,
  edit: ({ extras }) => extras.diff ?? `edited ${extras.path}`,
  error: ({ content }) => `failed: ${content}`,
  success: ({ content }) => `worked: ${content}`,
  user_rejected: ({ content }) => content,
  agent_state_changed: ({ extras }) => `is ${extras.agent_state}${extras.reason ? `: ${extras.reason}` : ''}`,
  delegate: ({ content, extras }) => content || JSON.stringify(extras.outputs),
  think: ({ content }) => content,
  condense: ({ content }) => content,
  recall: ({ extras }) =>
    `${extras.recall_type}: ${extras.microagent_knowledge.map(({ agent_name }) => agent_name).join(', ') || 'no knowledge'}`,
};

const events = [];

function show(event) {
  const render = event.action === undefined ? OBSERVATIONS[event.observation] : ACTIONS[event.action];
  assert.ok(render, `the document does not know ${JSON.stringify(event)}`);
  assert.match(event.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const text = event.action === undefined ? render(event) : render(event.args);
  const kind = `${event.action === undefined ? 'observation' : 'action'} ${event.action ?? event.observation}`;
  console.log(
    `${String(event.id ?? '').padStart(3)} ${event.source.padEnd(11)} ${kind.padEnd(31)} ${text.replaceAll(/\s+/g, ' ').slice(0, 160)}`,
  );
}

const socket = io(`http${settings.use_tls ? 's' : ''}://${settings.backend_host}:${settings.backend_port}`, { reconnection: false });
const send = (action, args) => socket.emit('oh_action', args === undefined ? { action } : { action, args });
const say = (content) => send('message', { content, image_urls: [], wait_for_response: false, security_risk: null });

socket.on('connect_error', ({ message }) => fail(message));
socket.on('disconnect', () => process.exit());
socket.on('oh_event', (event) => {
  events.push(event);
  try {
    show(event);
  } catch (error) {
    fail(error.message);
  }
});

function fail(words) {
  console.error(words);
  process.exit(1);
}

function talk() {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    if (!line.startsWith('{')) return void say(line);
    const { action, args } = JSON.parse(line);
    send(action, args);
  });
  lines.on('close', () => socket.disconnect());
}

/** From the first message to the end of the task. */
async function work() {
  const { promise: rested, resolve, reject } = Promise.withResolvers();
  const deadline = setTimeout(() => reject(new Error('the agent did not come to rest within 120 s')), 120_000);
  socket.on('oh_event', ({ extras }) => {
    const worked = events.some(({ observation, success }) => observation === 'run' && success);
    if (worked && ['FINISHED', 'AWAITING_USER_INPUT'].includes(extras?.agent_state)) resolve();
    if (extras?.agent_state === 'ERROR') reject(new Error(extras.reason));
  });
  socket.on('connect', () => say('write a bash script that prints hello'));
  await rested.finally(() => clearTimeout(deadline));
  const ran = events.filter(({ observation }) => observation === 'run');
  assert.ok(
    ran.some(({ content, extras }) => content.includes('hello') && extras.metadata.exit_code === 0),
    'the script printed hello',
  );
  console.log(`ok: ${events.length} events`);
  socket.disconnect();
}

if (isTalk) talk();
else work().catch(({ message }) => fail(message));
