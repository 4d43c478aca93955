import type { Peer, WebSocketOptions, Target } from '../../target/target.ts';

/** The plain-WebSocket generations that come with a session: how each says who it is. */
export const GENERATIONS = ['w1', 'w2', 'w3', 'w4', 'w5'] as const;
export type Generation = (typeof GENERATIONS)[number];

/** Ids of checks are public and stay as short as they were published; everything else calls a generation by its name. */
export const NAMES = {
  w1: 'opendevin-2024-04',
  w2: 'opendevin-2024-05',
  w3: 'opendevin-2024-06',
  w4: 'opendevin-2024-07',
  w5: 'opendevin-2024-11',
} as const satisfies Record<Generation, string>;

export interface Session {
  readonly peer: Peer;
  readonly token: string;
}

/** Where a client of this generation connects, with its token or as a new one. */
export function addressOf(generation: Generation, token: string | undefined, latest?: number): WebSocketOptions {
  const query = new URLSearchParams(latest === undefined ? {} : { latest_event_id: String(latest) });
  if (generation !== 'w5' && token !== undefined) query.set('token', token);
  const path = query.size > 0 ? `/ws?${query.toString()}` : '/ws';
  return generation === 'w5' ? { path, protocols: ['openhands', token ?? 'NO_JWT', 'NO_GITHUB'] } : { path };
}

/** A new session of this generation, initialized and ready for a task. */
export async function enter(target: Target, generation: Generation): Promise<Session> {
  const minted = generation < 'w4' ? await mint(target) : undefined;
  const peer = await target.connect.webSocket(addressOf(generation, minted));
  initialize(target, peer);
  const token = minted ?? String((await peer.frames.until('the token', ({ token: given }) => typeof given === 'string')).token);
  await peer.frames.until('readiness', generation === 'w1' ? ({ action }) => action === 'initialize' : isRest);
  return { peer, token };
}

/** With these four names only, as opendevin-2024-05 to opendevin-2024-07 do; the address of the model is in the server's settings. */
export function initialize({ model }: Target, peer: Peer): void {
  const { LLM_MODEL = '' } = model.initializeArgs;
  peer.send({ action: 'initialize', args: { LLM_MODEL, LLM_API_KEY: '', AGENT: 'CodeActAgent', LANGUAGE: 'en' } });
}

/** Says the task as this generation does. */
export function say(peer: Peer, generation: Generation, text: string): void {
  if (generation <= 'w2') peer.send({ action: 'start', args: { task: text } });
  else peer.send({ action: 'message', args: { content: text, images_urls: [], timestamp: '2024-10-03T10:00:00.000Z' } });
}

async function mint(target: Target): Promise<string> {
  const answer = await target.ask('GET', '/api/auth', { headers: { authorization: 'Bearer null' } });
  if (answer.status !== 200) throw new Error(`GET /api/auth: ${answer.status} ${answer.text.slice(0, 200)}`);
  return String(answer.body.token);
}

function isRest({ extras, args }: Readonly<Record<string, unknown>>): boolean {
  const state =
    (extras as { agent_state?: unknown } | undefined)?.agent_state ?? (args as { task_state?: unknown } | undefined)?.task_state;
  return state === 'init' || state === 'awaiting_user_input';
}
