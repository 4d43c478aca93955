// A client written from openhands-events.md alone: its backend settings, `oh_action` out, `oh_event` in, and a line for each of its
// sixteen actions and fifteen observations. It sends nothing before it receives the state INIT, and stops at the first value whose type or
// word is not the document's, as a client with fixed types does. Its library reconnects by itself.
//   node examples/events-doc.mjs [http://127.0.0.1:3000]              a task, from the first message to the end
//   node examples/events-doc.mjs http://127.0.0.1:3000 --talk         what is typed is a message; a line of JSON is sent as the action it is
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

const STATES =
  'LOADING|INIT|RUNNING|AWAITING_USER_INPUT|PAUSED|STOPPED|FINISHED|REJECTED|ERROR|RATE_LIMITED|AWAITING_USER_CONFIRMATION|USER_CONFIRMED|USER_REJECTED';
const COMMANDS = 'view|create|str_replace|insert|undo_edit|write';
const METADATA =
  'exit_code:int pid:int username:text hostname:text working_dir:text py_interpreter_path:text prefix:text suffix:text'.replaceAll(
    /(\w+):/g,
    'metadata.$1:',
  );
const PAGE = 'screenshot:text set_of_marks:text error:flag goal_image_urls:list open_pages_urls:list active_page_index:int';

/** What the document shows in `args` or `extras`: `name:type`, or the words of an enumeration. What it shows as null may be null. */
const TYPES = {
  'action change_agent_state': `agent_state:${STATES} thought:text`,
  'action summarize': 'summary:text',
  'action finish': 'final_thought:text task_completed:true|partial|false outputs:object thought:text',
  'action think': 'thought:text',
  'action reject': 'outputs:object thought:text',
  'action delegate': 'agent:text inputs:object thought:text',
  'action recall': 'query:text thought:text',
  'action run':
    'command:text is_input:flag thought:text blocking:flag hidden:flag confirmation_state:confirmed|rejected|awaiting_confirmation',
  'action run_ipython': 'code:text thought:text include_extra:flag confirmation_state:text kernel_init_code:text',
  'action read': 'path:text start:int end:int thought:text impl_source:oh_aci|default view_range:list?',
  'action write': 'path:text content:text start:int end:int thought:text',
  'action edit': `path:text command:${COMMANDS} file_text:text? old_str:text? new_str:text? insert_line:int? content:text start:int end:int thought:text impl_source:oh_aci|llm_based_edit`,
  'action browse': 'url:text thought:text',
  'action browse_interactive': 'browser_actions:text thought:text browsergym_send_msg_to_user:text',
  'action message': 'content:text image_urls:list? wait_for_response:flag',
  'action null': '',
  'observation run': `command:text ${METADATA} hidden:flag`,
  'observation run_ipython': 'code:text',
  'observation read': 'path:text impl_source:oh_aci|default',
  'observation write': 'path:text',
  'observation edit': 'path:text prev_exist:flag old_content:text new_content:text impl_source:oh_aci|llm_based_edit diff:text?',
  'observation browse': `url:text trigger_by_action:text ${PAGE} last_browser_action:text last_browser_action_error:text focused_element_bid:text`,
  'observation agent_state_changed': `agent_state:${STATES}`,
  'observation recall':
    'recall_type:environment_info|knowledge_microagent|default repo_name:text repo_directory:text repo_instructions:text runtime_hosts:object additional_agent_instructions:text microagent_knowledge:list',
  'observation delegate': 'outputs:object',
  'observation error': 'error_id:text',
};

const IS = {
  text: (value) => typeof value === 'string',
  int: (value) => Number.isInteger(value),
  flag: (value) => typeof value === 'boolean',
  list: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** Throws at what a decoder with the document's types would not take. */
function decode(event) {
  const kind = event.action === undefined ? `observation ${event.observation}` : `action ${event.action}`;
  assert.ok(event.action === undefined ? OBSERVATIONS[event.observation] : ACTIONS[event.action], `the document does not know ${kind}`);
  const body = event.action === undefined ? event.extras : event.args;
  const base = { id: event.id ?? 0, cause: event.cause ?? 0, message: event.message, body };
  const types = `id:int cause:int message:text body:object${event.action === undefined ? ' content:text success:flag' : ''}`;
  check(kind, { ...base, content: event.content, success: event.success ?? true }, types);
  check(kind, body, TYPES[kind] ?? '');
  assert.match(event.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.match(event.source, /^(?:agent|user|environment)$/);
  return kind;
}

function check(kind, body, types) {
  for (const entry of types.split(' ').filter(Boolean)) {
    const [path, type] = entry.split(':');
    const value = path.split('.').reduce((found, key) => found?.[key], body);
    if (type.endsWith('?') && value === null) continue;
    const fits = IS[type.replace('?', '')] ?? ((word) => type.split('|').includes(word));
    assert.ok(fits(value), `${kind}: ${path} is ${JSON.stringify(value)}, not ${type}`);
  }
}

const events = [];

function show(event) {
  const kind = decode(event);
  const text = event.action === undefined ? OBSERVATIONS[event.observation](event) : ACTIONS[event.action](event.args);
  console.log(
    `${String(event.id ?? '').padStart(3)} ${event.source.padEnd(11)} ${kind.padEnd(31)} ${text.replaceAll(/\s+/g, ' ').slice(0, 160)}`,
  );
}

const socket = io(`http${settings.use_tls ? 's' : ''}://${settings.backend_host}:${settings.backend_port}`, { reconnectionAttempts: 5 });
const send = (action, args) => socket.emit('oh_action', args === undefined ? { action } : { action, args });
const say = (content) => send('message', { content, image_urls: [], wait_for_response: false, security_risk: null });

/** The document's state of an agent that is ready: from here on it takes messages. */
const { promise: initialized, resolve: isInitialized } = Promise.withResolvers();

socket.on('connect_error', ({ message }) => {
  // The server is unreachable or refuses; a broken connection is retried.
  if (!socket.active || events.length === 0) fail(message);
});
socket.io.on('reconnect_failed', () => fail('the server did not come back'));
socket.on('disconnect', () => {
  if (!socket.active) process.exit();
});
socket.on('oh_event', (event) => {
  events.push(event);
  try {
    show(event);
  } catch (error) {
    fail(error.message);
  }
  if (event.extras?.agent_state === 'INIT') isInitialized();
});

function fail(words) {
  console.error(words);
  process.exit(1);
}

async function talk() {
  await initialized;
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
  void initialized.then(() => say('write a bash script that prints hello'));
  await rested.finally(() => clearTimeout(deadline));
  const ran = events.filter(({ observation }) => observation === 'run');
  assert.ok(
    ran.some(({ content, extras }) => content.includes('hello') && extras.metadata.exit_code === 0),
    'the script printed hello',
  );
  console.log(`ok: ${events.length} events`);
  socket.disconnect();
}

(isTalk ? talk() : work()).catch(({ message }) => fail(message));
