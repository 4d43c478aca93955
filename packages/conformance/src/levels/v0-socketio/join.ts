import type { Peer, SocketIoOptions, Target } from '../../target/target.ts';
import type { ModelStep } from '../../model/model-step.ts';
import { isState, type Frame } from '../../target/frames.ts';

/** The handshake of 0.62 into this conversation, from the beginning or after an event. */
export function join(target: Target, id: string, { after = -1, ...ask }: SocketIoOptions & { readonly after?: number } = {}): Peer {
  const query = {
    conversation_id: id,
    latest_event_id: String(after),
    providers_set: '',
    session_api_key: target.server.key ?? 'null',
    ...ask.query,
  };
  return target.connect.socketIo({ ...ask, query });
}

export interface JoinedConversation {
  readonly id: string;
  readonly peer: Peer;
}

/** A new conversation with a client in it, awaiting a message. */
export async function joinNew(target: Target, ask: SocketIoOptions = {}): Promise<JoinedConversation> {
  const id = await target.converse();
  const peer = join(target, id, ask);
  await peer.frames.until('awaiting_user_input', isState('awaiting_user_input'));
  return { id, peer };
}

/** The handshake of 0.15 … 0.17, in band: a new session, or one that comes back with its token and perhaps a cursor. */
export async function joinInBand(target: Target, more: Frame = {}): Promise<{ readonly peer: Peer; readonly token: string }> {
  const args = { ...target.model.initializeArgs, AGENT: 'CodeActAgent', LANGUAGE: 'en', CONFIRMATION_MODE: false, SECURITY_ANALYZER: '' };
  const peer = target.connect.socketIo({ says: 'oh_action' });
  peer.send({ action: 'initialize', args, ...more });
  const { token } = await peer.frames.until('the token', (frame) => frame.token !== undefined);
  return { peer, token: String(token) };
}

export function message(content: string): Frame {
  return { action: 'message', args: { content, image_urls: [], file_urls: [], timestamp: '2025-11-11T12:00:00.000Z' } };
}

/** Says a message that makes the model take these steps and waits until the agent rests; the frames of this turn. */
export async function turn(target: Target, { peer }: JoinedConversation, steps: readonly ModelStep[]): Promise<readonly Frame[]> {
  const from = peer.frames.all.length;
  peer.send(message(target.model.script(steps)));
  await peer.frames.until('running', isState('running'), { from });
  await peer.frames.until('the end of the turn', isState('awaiting_user_input', 'finished'), { from });
  return peer.frames.all.slice(from);
}

export function actionIn(frames: readonly Frame[], kind: string): Frame {
  const found = frames.find(({ action }) => action === kind);
  if (!found) throw new Error(`there is no action ${kind} among ${kindsOf(frames)}`);
  return found;
}

export function observationIn(frames: readonly Frame[], kind: string): Frame {
  const found = frames.find(({ observation }) => observation === kind);
  if (!found) throw new Error(`there is no observation ${kind} among ${kindsOf(frames)}`);
  return found;
}

function kindsOf(frames: readonly Frame[]): string {
  return frames.map(({ action, observation }) => String(action ?? observation ?? 'status')).join(', ');
}
