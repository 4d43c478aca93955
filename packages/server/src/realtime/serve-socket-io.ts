import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { corsHeaders } from '../platform/auth/authorize.ts';
import { randomUUID } from 'node:crypto';
import { failureFor } from '@tendon/core';
import { catalogError, dialectOfPage, eventsDoc, openhandsV0, type CatalogError, type Dialect, type Frame } from '@tendon/protocol';
import { Server, type Socket } from 'socket.io';
import { Connection } from './connection.ts';
import { MAX_BODY_BYTES } from '../platform/http/app.ts';
import { failureBody } from '../platform/http/failure.ts';
import { admit } from '../platform/http/admit.ts';
import { needOfSocket } from '../platform/auth/access-table.ts';
import type { Principal } from '../platform/auth/identify.ts';
import { cursorFrom, tailFrom } from './past.ts';
import { endWithAccess, isWatcher, type RealtimeContext, traceparentOf } from './realtime-context.ts';
import { HeldPolls, socketIoWire } from './socket-io-wire.ts';
import { InBandSession } from './in-band-session.ts';
import { letInSilent } from './let-in-silent.ts';
import { MAX_BYTES, UnauthenticatedSessions, type EngineSession } from './unauthenticated-sessions.ts';
import { webSocketServer } from './web-socket-server.ts';
import type { Wire } from './wire.ts';

/** `/socket.io`, polling and WebSocket: `oh_event` to clients, `oh_user_action` and `oh_action` from them. */
export function serveSocketIo(http: HttpServer, context: RealtimeContext): { readonly io: Server; hangUp(): void; close(): Promise<void> } {
  const { timeouts } = context;
  const sessions = (): Sessions => (io.engine as unknown as { readonly clients: Sessions }).clients;
  const unauthenticated = new UnauthenticatedSessions(context, (id) => sessions()[id]);
  const smallFrames = { maxBytes: MAX_BYTES, appliesTo: (request: IncomingMessage) => unauthenticated.has(request) };
  const io: Server = new Server(http, {
    path: '/socket.io',
    // The same one as `/ws` has; a bundle would else hold two.
    wsEngine: webSocketServer(timeouts, smallFrames),
    serveClient: false,
    destroyUpgrade: false,
    maxHttpBufferSize: MAX_BODY_BYTES,
    connectTimeout: timeouts.connectMs,
    upgradeTimeout: timeouts.upgradeMs,
    pingInterval: timeouts.pingMs,
    pingTimeout: timeouts.pongMs,
    allowEIO3: false,
  });
  const polls = new HeldPolls();
  io.engine.use((request: IncomingMessage, response: ServerResponse, next: (error?: Error) => void) =>
    guard(request, response, (error) => (error ? next(error) : polls.pass(request, next)), { context, unauthenticated }),
  );
  // A polling client sees the end at its next poll; one that does not poll again is not waited for longer than at other endpoints.
  io.engine.on('connection', (session: EngineSession & { readonly transport: object }) => {
    unauthenticated.opened(session);
    const { transport } = session;
    if ('closeTimeout' in transport) transport.closeTimeout = timeouts.closeMs;
  });
  io.use((socket, next) => {
    const refusal = refusalOf(socket, context).catch((cause: unknown) => {
      context.logger.error({ err: cause }, 'a client could not be let in');
      return failureFor(cause);
    });
    void refusal.then((error) => next(error && connectError(error)));
  });
  io.on('connection', (socket) => void serve(socket, context, polls));
  letInSilent(io);
  return {
    io,
    // A client that Socket.IO disconnects stays away; one whose transport ends connects anew.
    hangUp() {
      for (const session of Object.values(sessions())) session.close();
    },
    close: () => io.close(),
  };
}

type Sessions = Readonly<Record<string, EngineSession>>;

/** Before every poll and upgrade, for Host and Origin. The caller is identified when the client connects, and refused with a message that it shows. */
function guard(
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: Error) => void,
  { context, unauthenticated }: Guarding,
): void {
  const { config } = context;
  const access = admit(context, request, { need: 'public', isSocket: true });
  const error = access.ok ? (scriptRefusal(request) ?? unauthenticated.refusalOf(request)) : access.error;
  if (!error) {
    if (request.headers.upgrade) return next();
    const isPreflight = request.method === 'OPTIONS';
    for (const [name, value] of Object.entries(corsHeaders(request.headers, config, isPreflight))) response.setHeader(name, value);
    if (isPreflight) response.writeHead(204).end();
    else if (request.method === 'GET' || request.method === 'POST') next();
    // The library would say 500.
    else response.writeHead(405, { allow: 'GET, POST, OPTIONS' }).end();
    return;
  }
  if (request.headers.upgrade) return next(new Error(error.message));
  response.writeHead(error.status, { 'content-type': 'application/json' }).end(JSON.stringify(failureBody(error)));
}

interface Guarding {
  readonly context: RealtimeContext;
  readonly unauthenticated: UnauthenticatedSessions;
}

/** Polling by script (JSONP) needs no `Origin`, so a foreign page could read the answer. No client of ours asks for it. */
function scriptRefusal({ url = '/' }: IncomingMessage): CatalogError | undefined {
  return new URLSearchParams(url.split('?')[1]).has('j') ? catalogError('INVALID_FRAME', 'polling by script is not offered') : undefined;
}

/** Checked and noted before the client is notified that it is connected. */
async function refusalOf(socket: Socket, context: RealtimeContext): Promise<CatalogError | undefined> {
  const { conversations } = context;
  const { dialect, latest_event_id } = socket.handshake.query;
  const named = conversationIdOf(socket);
  const back = recoveryOf(socket);
  const isBack = named === undefined && back !== undefined && (await conversations.get(back.conversation)) !== undefined;
  const id = isBack ? back.conversation : named;
  const access = admit(context, socket.request, { need: needOfSocket('/socket.io', id), conversation: id, isSocket: true });
  if (!access.ok) return access.error.code === 'UNAUTHORIZED' ? { ...access.error, message: 'invalid_session_api_key' } : access.error;
  if (id === '') return catalogError('NO_CONVERSATION_ID');
  const isThere =
    id === undefined || ((await conversations.get(id)) !== undefined && (await conversations.visibility.sees(access.principal, id)));
  if (!isThere) return catalogError('CONVERSATION_NOT_FOUND', id.slice(0, 100));
  const isDocument = isBack || dialect === 'events-doc';
  const latest = isDocument && back?.conversation === id ? (back?.latestEventId ?? latest_event_id) : latest_event_id;
  const session = isDocument || id === undefined ? nameSession(socket, id) : undefined;
  socket.data = { principal: access.principal, conversation: id, from: cursorFrom(latest), isDocument, session } satisfies SocketData;
  return undefined;
}

interface SocketData {
  readonly principal: Principal;
  /** `undefined`: it named none, and its frames show what it is. */
  readonly conversation: string | undefined;
  readonly from: number;
  /** It goes by `openhands-events.md`. */
  readonly isDocument: boolean;
  /** With which it reconnects. */
  readonly session: string | undefined;
}

/** Socket.IO's CONNECT_ERROR: clients show `message` and translate `data.msg_id`. */
function connectError(error: CatalogError): Error {
  return Object.assign(new Error(error.message), { data: { msg_id: error.messageId, code: error.code } });
}

/** Of Socket.IO, without the transport's own digit: an event, with attachments or without. */
const EVENT = /^[25]/;

async function serve(socket: Socket, context: RealtimeContext, polls: HeldPolls): Promise<void> {
  const wire = socketIoWire(socket, polls);
  context.metrics.connected('socket.io', wire.closed);
  const { principal, conversation, from, isDocument, session } = socket.data as SocketData;
  void endWithAccess(principal, wire);
  const marked = withOffsets(wire, (offset) => void socket.emit('tendon_offset', offset));
  const traceparent = traceparentOf(socket.handshake.headers);
  const own = {
    isWatcher: isWatcher(principal),
    by: principal,
    traceparent,
    ...(session !== undefined && { beginsAs: session }),
  };
  const speak = (dialect: Dialect) => new Connection({ ...context, ...own, wire: dialect === eventsDoc ? marked : wire, dialect });
  if (conversation === undefined) return listen(socket, context, new InBandSession({ speak, wire, ...context, isDocument, by: principal }));
  const connection = speak(isDocument ? eventsDoc : dialectOf(socket.handshake));
  listen(socket, context, connection);
  connection.greet();
  await connection.begin(conversation, from, tailFrom(socket.handshake.query.tail));
}

/** Only browsers send an origin. A program gets the dialect of 0.62, whatever its query lacks; so does a page that asks for it. */
function dialectOf({ query, headers: { origin } }: Socket['handshake']): Dialect {
  return origin === undefined || query.dialect === 'openhands-v0' ? openhandsV0 : dialectOfPage(query);
}

function listen(socket: Socket, { metrics, clock }: RealtimeContext, receiver: Pick<Connection, 'receive'>): void {
  const sizes: number[] = [];
  socket.conn.on('packet', ({ data = '' }: { readonly data?: string | Buffer }) => {
    // An event, or an attachment of the one before; any other packet is ignored or ends the client's session.
    if (typeof data === 'string' && EVENT.test(data)) sizes.push(data.length);
    else if (typeof data !== 'string' && sizes.length > 0) sizes[sizes.length - 1]! += data.length;
  });
  socket.onAny((name: string, ...args: unknown[]) => {
    metrics.seen(clock.now());
    metrics.loop.begun('a frame of /socket.io');
    const isAction = name === 'oh_user_action' || name === 'oh_action';
    receiver.receive(isAction ? args[0] : ({ action: name } satisfies Frame), sizes.shift() ?? 0);
  });
}

function conversationIdOf(socket: Socket): string | undefined {
  const { conversation_id: id } = socket.handshake.query;
  return Array.isArray(id) ? id[0] : id;
}

/**
 * Socket.IO's connection state recovery, over the log: a client of `openhands-events.md` does not know its conversation, but its library
 * reconnects by itself. The server names the session (`pid`) when the client connects, and the client returns it with the last
 * text that ended an event (`offset`). Here the session is the conversation that the client begins, and the text is the id of the last event,
 * so that missed events are read from the log: nothing is buffered for absent clients, and it works across a restart of the server.
 * These data of the client's last connection are untrusted.
 */
interface Recovery {
  readonly conversation: string;
  /** The id of the last event that it got. */
  readonly latestEventId: string | undefined;
}

function recoveryOf({ handshake }: Socket): Recovery | undefined {
  const { pid, offset } = handshake.auth as Readonly<Record<string, unknown>>;
  if (typeof pid !== 'string' || !/^[0-9a-f]{32}$/.test(pid)) return undefined;
  return { conversation: pid, latestEventId: typeof offset === 'string' ? offset : undefined };
}

/** Must be called before the client is notified that it is connected. Returns the id with which it will reconnect. */
function nameSession(socket: Socket, conversation: string = randomUUID().replaceAll('-', '')): string {
  // The library sends it only with its own recovery, which stores every packet to every client in memory.
  (socket as unknown as { pid: string }).pid = conversation;
  return conversation;
}

/** The same wire; after each batch of events it sends the id of the last one, as an event that ends with a text. */
function withOffsets(wire: Wire, sendOffset: (offset: string) => void): Wire {
  let latest: number | undefined;
  return {
    ...wire,
    send(frame) {
      wire.send(frame);
      if (typeof frame.id !== 'number') return;
      if (latest === undefined) setImmediate(flush);
      latest = frame.id;
    },
  };

  function flush(): void {
    if (latest !== undefined && !wire.closed.aborted) sendOffset(String(latest));
    latest = undefined;
  }
}
