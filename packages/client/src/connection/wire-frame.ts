import {
  fromJson,
  type DelegatedFrame,
  type DeltaFrame,
  type Event,
  type NetworkFrame,
  type OutputFrame,
  type PortsFrame,
  type ReplayFrame,
  type StatusFrame,
} from '@tendon/protocol';

/** What one frame of the server is to a client. `ignored`: nothing that this version could show, e.g. not an object. */
export type WireFrame =
  | { readonly type: 'event'; readonly event: Event }
  | { readonly type: 'status'; readonly status: StatusFrame }
  | { readonly type: 'delta'; readonly frame: DeltaFrame }
  | { readonly type: 'output'; readonly frame: OutputFrame }
  | { readonly type: 'ports'; readonly ports: PortsFrame['ports'] }
  | { readonly type: 'network'; readonly questions: NetworkFrame['questions'] }
  | { readonly type: 'delegated'; readonly waiting: DelegatedFrame['waiting'] }
  | { readonly type: 'replay'; readonly frame: ReplayFrame }
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
  if (frame.volatile === 'replay' && isReplay(frame)) return { type: 'replay', frame: frame as unknown as ReplayFrame };
  if (frame.status_update === true) return { type: 'status', status: readStatus(frame) };
  if (isId(frame.id)) return { type: 'event', event: fromJson(withMeta(frame)) };
  if (frame.error === true) return notice(frame.message, '');
  if (frame.observation === 'error') return notice(frame.content ?? frame.message, errorIdOf(frame.extras));
  return { type: 'ignored' };
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
