import { io, type Socket } from 'socket.io-client';

/** Just enough of the V0 protocol (REST + Socket.IO) to measure any server that speaks it. */
export interface V0Event {
  readonly id?: number | string;
  readonly timestamp?: string;
  readonly observation?: string;
  readonly content?: string;
  readonly extras?: { readonly agent_state?: string; readonly reason?: string };
}

export interface V0Conversation {
  readonly id: string;
  readonly socket: Socket;
  readonly events: V0Event[];
  /** POST to the state in which it takes the first message, ms. */
  readonly readyMs: number;
}

const DEADLINE_MS = 300_000;

async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${(await response.text()).slice(0, 200)}`);
  return response.json();
}

export async function configure(base: string, modelUrl: string): Promise<void> {
  await post(`${base}/api/settings`, {
    language: 'en',
    agent: 'CodeActAgent',
    max_iterations: 100_000,
    confirmation_mode: false,
    security_analyzer: null,
    enable_default_condenser: false,
    user_consents_to_analytics: false,
    llm_model: 'openai/gpt-4o',
    llm_api_key: 'benchmark-key',
    llm_base_url: modelUrl,
  });
}

export function connect(base: string, id: string, latest: number, onEvent: (event: V0Event) => void): Socket {
  const socket = io(base, {
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
    query: { conversation_id: id, latest_event_id: String(latest), providers_set: '' },
  });
  socket.on('oh_event', onEvent);
  return socket;
}

const stateOf = (event: V0Event): string | undefined =>
  event.observation === 'agent_state_changed' ? event.extras?.agent_state : undefined;

/** Resolves with the first event that passes, already seen ones from index `from` included. */
export function until(
  conversation: Pick<V0Conversation, 'socket' | 'events'>,
  from: number,
  test: (event: V0Event) => boolean,
): Promise<V0Event> {
  const seen = conversation.events.slice(from).find(test);
  if (seen) return Promise.resolve(seen);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the server did not get there in time')), DEADLINE_MS);
    conversation.socket.on('oh_event', (event: V0Event) => {
      if (!test(event)) return;
      clearTimeout(timer);
      resolve(event);
    });
  });
}

export async function create(base: string): Promise<V0Conversation> {
  const started = performance.now();
  const { conversation_id: id } = (await post(`${base}/api/conversations`, {})) as { conversation_id: string };
  const events: V0Event[] = [];
  const socket = connect(base, id, -1, (event) => events.push(event));
  const ready = await until({ socket, events }, 0, (event) => ['awaiting_user_input', 'error'].includes(stateOf(event) ?? ''));
  if (stateOf(ready) === 'error') throw new Error(`the new conversation is in state error: ${ready.extras?.reason}`);
  return { id, socket, events, readyMs: performance.now() - started };
}

/** Sends one task and waits for its end. */
export async function run(conversation: V0Conversation, task: string): Promise<void> {
  const from = conversation.events.length;
  let running = false;
  const end = until(conversation, from, (event) => {
    const state = stateOf(event);
    running ||= state === 'running';
    return running && ['finished', 'awaiting_user_input', 'error', 'stopped'].includes(state ?? '');
  });
  conversation.socket.emit('oh_user_action', { action: 'message', args: { content: task, image_urls: [], file_urls: [] } });
  const state = stateOf(await end);
  if (state === 'error') throw new Error('the run ended in state error');
}

/** Sends one cell of Jupyter as a client and waits for what it shows; ms. */
export async function runCell(conversation: V0Conversation, code: string): Promise<number> {
  const from = conversation.events.length;
  const started = performance.now();
  conversation.socket.emit('oh_user_action', { action: 'run_ipython', args: { code } });
  const answer = await until(conversation, from, ({ observation }) => observation === 'run_ipython' || observation === 'error');
  if (answer.observation === 'error') throw new Error(`the cell was not run: ${answer.content}`);
  return performance.now() - started;
}

export const lastId = (conversation: V0Conversation): number =>
  Math.max(-1, ...conversation.events.map((event) => (typeof event.id === 'number' ? event.id : -1)));

/** Connects anew and waits for the event `last`; ms. */
export async function replay(base: string, id: string, last: number): Promise<number> {
  const started = performance.now();
  const events: V0Event[] = [];
  const socket = connect(base, id, -1, (event) => events.push(event));
  try {
    await until({ socket, events }, 0, (event) => event.id === last);
    return performance.now() - started;
  } finally {
    socket.close();
  }
}
