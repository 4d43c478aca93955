import {
  fromJson,
  isAction,
  parseAgentState,
  type DelegatedFrame,
  type DeltaFrame,
  type Event,
  type NetworkFrame,
  type OutputFrame,
  type PortsFrame,
  type ReplayFrame,
  type StateFrame,
  type StatusFrame,
  type TailFrame,
} from '@tendon/protocol';
import { INITIAL_STATE, type ConversationState } from '@tendon/protocol/reduce';

/** What one frame of the server is to a client. `ignored`: nothing that this version could show, e.g. not an object. */
export type WireFrame =
  | { readonly type: 'event'; readonly event: Event }
  | { readonly type: 'status'; readonly status: StatusFrame }
  | { readonly type: 'delta'; readonly frame: DeltaFrame }
  | { readonly type: 'output'; readonly frame: OutputFrame }
  | { readonly type: 'ports'; readonly ports: PortsFrame['ports'] }
  | { readonly type: 'network'; readonly questions: NetworkFrame['questions'] }
  | { readonly type: 'delegated'; readonly waiting: DelegatedFrame['waiting'] }
  | { readonly type: 'replay'; readonly frame: Exclude<ReplayFrame, TailFrame> }
  /** The events of the range are not sent; `state` is the fold of the log below `state.nextId`. */
  | { readonly type: 'tail'; readonly from: number; readonly to: number; readonly state: ConversationState }
  /** An answer to something this client sent, which is not part of the log. */
  | { readonly type: 'notice'; readonly message: string; readonly errorId: string }
  | { readonly type: 'ignored' };

/** Total: the server's frames are input like any other. */
export function readFrame(json: unknown): WireFrame {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return { type: 'ignored' };
  const frame = json as Record<string, unknown>;
  if (frame.volatile === 'delta' && hasPiece(frame, 'turn')) return { type: 'delta', frame: frame as unknown as DeltaFrame };
  if (frame.volatile === 'output' && hasPiece(frame, 'cause')) return { type: 'output', frame: frame as unknown as OutputFrame };
  if (frame.volatile === 'ports' && Array.isArray(frame.ports)) return { type: 'ports', ports: frame.ports.filter(isServed) };
  if (frame.volatile === 'network' && Array.isArray(frame.questions)) {
    return { type: 'network', questions: frame.questions.filter(isQuestion) };
  }
  if (frame.volatile === 'delegated' && Array.isArray(frame.waiting))
    return { type: 'delegated', waiting: frame.waiting.filter(isWaiting) };
  if (frame.volatile === 'replay' && frame.phase === 'tail') return readTail(frame);
  if (frame.volatile === 'replay' && isReplay(frame)) return { type: 'replay', frame: frame as { volatile: 'replay'; phase: 'begin' } };
  if (frame.status_update === true) return { type: 'status', status: readStatus(frame) };
  if (isId(frame.id)) return { type: 'event', event: readEvent(frame) };
  if (frame.error === true) return notice(frame.message, '');
  if (frame.observation === 'error') return notice(frame.content ?? frame.message, errorIdOf(frame.extras));
  return { type: 'ignored' };
}

/** An event as servers of these generations send it. */
export function readEvent(frame: Record<string, unknown>): Event {
  return fromJson(withMeta(frame));
}

function readTail({ from, first_id, state }: Record<string, unknown>): WireFrame {
  const given = (state ?? {}) as Partial<StateFrame>;
  if (!isId(from) || !isId(first_id) || !isId(given.next_id) || !Array.isArray(given.pending)) return { type: 'ignored' };
  const { next_id, agent_state, reason, resumes_at, pending, last_user_message_id: message, last_agent_event_id: agents } = given;
  const metrics = given.llm_metrics;
  return {
    type: 'tail',
    from,
    to: first_id,
    state: {
      nextId: next_id,
      agentState: parseAgentState(agent_state) ?? INITIAL_STATE.agentState,
      reason: String(reason ?? ''),
      resumesAt: typeof resumes_at === 'string' ? resumes_at : undefined,
      pending: (pending as readonly Record<string, unknown>[])
        .filter((one) => isId(one?.id))
        .map(readEvent)
        .filter((event) => isAction(event)),
      lastUserMessageId: isId(message) ? message : -1,
      lastAgentEventId: isId(agents) ? agents : -1,
      metrics: typeof metrics === 'object' && metrics !== null ? metrics : undefined,
    },
  };
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function hasPiece(frame: Record<string, unknown>, key: 'turn' | 'cause'): boolean {
  return isId(frame[key]) && isId(frame.offset) && typeof frame.text === 'string';
}

function isReplay({ phase, next_id }: Record<string, unknown>): boolean {
  return phase === 'begin' || (phase === 'end' && isId(next_id));
}

function isServed(value: unknown): value is PortsFrame['ports'][number] {
  const { port, program } = (value ?? {}) as Record<string, unknown>;
  return isId(port) && typeof program === 'string';
}

function isQuestion(value: unknown): value is NetworkFrame['questions'][number] {
  const { host, port, asked_at } = (value ?? {}) as Record<string, unknown>;
  return typeof host === 'string' && isId(port) && typeof asked_at === 'string';
}

function isWaiting(value: unknown): value is DelegatedFrame['waiting'][number] {
  const { conversation_id, event_id } = (value ?? {}) as Record<string, unknown>;
  return typeof conversation_id === 'string' && isId(event_id);
}

/** A server of another make may leave these out. */
function withMeta(frame: Record<string, unknown>): Record<string, unknown> {
  const timestamp = typeof frame.timestamp === 'string' ? frame.timestamp : '';
  const source = typeof frame.source === 'string' ? frame.source.toLowerCase() : 'agent';
  return { ...frame, timestamp, source };
}

function readStatus(frame: Record<string, unknown>): StatusFrame {
  return {
    volatile: 'status',
    type: frame.type === 'error' ? 'error' : 'info',
    message: typeof frame.message === 'string' ? frame.message : '',
    ...(typeof frame.id === 'string' && { id: frame.id }),
    ...(typeof frame.conversation_title === 'string' && { conversation_title: frame.conversation_title }),
  };
}

function notice(message: unknown, errorId: string): WireFrame {
  return { type: 'notice', message: typeof message === 'string' ? message : 'The server refused this', errorId };
}

function errorIdOf(extras: unknown): string {
  const id = typeof extras === 'object' && extras !== null ? (extras as Record<string, unknown>).error_id : undefined;
  return typeof id === 'string' ? id : '';
}
