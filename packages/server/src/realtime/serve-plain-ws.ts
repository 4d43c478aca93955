import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { catalogError, opendevinWs, type CatalogError } from '@tendon/protocol';
import type { RawData, WebSocket } from 'ws';
import { refuseUpgrade as refuse } from '@tendon/runtime';
import { Connection } from './connection.ts';
import { MAX_BODY_BYTES } from '../platform/http/app.ts';
import { admit } from '../platform/http/admit.ts';
import { needOfSocket } from '../platform/auth/access-table.ts';
import type { Principal } from '../platform/auth/identify.ts';
import { cursorFrom } from './past.ts';
import { endWithAccess, isWatcher, type RealtimeContext, traceparentOf } from './realtime-context.ts';
import { servedSockets, webSocketServer, type ServedSockets } from './web-socket-server.ts';
import { type Wire, Unsent } from './wire.ts';
import { failureBody } from '../platform/http/failure.ts';

/** Serves a client that names no conversation. */
type BeginSession = (wire: Wire, request: IncomingMessage, by: Principal) => Client;

/** `/ws`: one JSON object per text frame, as in the seed documents. Upgrades for other paths are left to others. */
export function servePlainWs(http: Server, context: RealtimeContext, beginSession: BeginSession): ServedSockets {
  const sockets = new (webSocketServer(context.timeouts))({ noServer: true, maxPayload: MAX_BODY_BYTES, perMessageDeflate: false });
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = request.url?.split('?', 1)[0];
    if (path !== '/ws' && path !== '/ws/') {
      if (!path?.startsWith('/socket.io') && path !== '/shell') refuseUpgrade(socket, catalogError('NOT_FOUND'));
      return;
    }
    const conversation = queryOf(request).get('conversation_id') ?? undefined;
    const access = admit(context, request, { need: needOfSocket('/ws', conversation), conversation, isSocket: true });
    if (!access.ok) return refuseUpgrade(socket, access.error);
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const wire = plainWire(opened);
      const { principal } = access;
      const id = queryOf(request).get('conversation_id');
      const client = id === null ? beginSession(wire, request, principal) : connect(wire, request, principal, id, context);
      void endWithAccess(access.principal, wire);
      context.metrics.connected('ws', wire.closed);
      void expectLife(opened, wire, context);
      opened.on('error', (cause) => context.logger.debug({ err: cause }, 'a socket failed'));
      opened.on('message', (data, isBinary) => {
        context.metrics.seen(context.clock.now());
        context.metrics.loop.begun('a frame of /ws');
        receive(client, data, isBinary);
      });
    });
  });
  return servedSockets(sockets);
}

type Client = Pick<Connection, 'receive' | 'refuse'>;

/** With `conversation_id` (ours) the client goes on where it was. */
function connect(wire: Wire, request: IncomingMessage, principal: Principal, id: string, context: RealtimeContext): Connection {
  const own = { isWatcher: isWatcher(principal), by: principal, traceparent: traceparentOf(request.headers) };
  const connection = new Connection({ ...context, ...own, wire, dialect: opendevinWs });
  connection.greet();
  void connection.begin(id, cursorFrom(queryOf(request).get('latest_event_id')));
  return connection;
}

export function queryOf({ url }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(url!.split('?')[1]);
}

function receive(client: Client, data: RawData, isBinary: boolean): void {
  if (isBinary) return client.refuse(catalogError('INVALID_FRAME', 'it is binary'));
  let frame: unknown;
  try {
    frame = JSON.parse((data as Buffer).toString('utf8'));
  } catch {
    return client.refuse(catalogError('INVALID_JSON'));
  }
  client.receive(frame, (data as Buffer).length);
}

/** Answers an upgrade like an ordinary request that failed, and hangs up. */
export function refuseUpgrade(socket: Duplex, error: CatalogError): void {
  refuse(socket, error.status, failureBody(error));
}

/** Asks for a sign of life again and again, and hangs up without one. A client that merely does not read has its own deadline. */
export async function expectLife(
  socket: WebSocket,
  wire: Wire,
  { clock, timeouts }: Pick<RealtimeContext, 'clock' | 'timeouts'>,
): Promise<void> {
  for (;;) {
    let isAlive = false;
    socket.once('pong', () => (isAlive = true));
    socket.ping();
    const isOver = await clock.sleep(timeouts.pingMs, { signal: wire.closed }).then(
      () => false,
      () => true,
    );
    if (isOver) return;
    if (!isAlive && wire.unsent.bytes === 0) return socket.terminate();
  }
}

/** A plain WebSocket: one JSON object per text frame. */
export function plainWire(socket: WebSocket): Wire {
  const closed = new AbortController();
  const unsent = new Unsent(closed.signal);
  socket.once('close', () => closed.abort());
  return {
    closed: closed.signal,
    unsent,
    send(frame) {
      if (socket.readyState !== socket.OPEN) return;
      const text = JSON.stringify(frame);
      const size = Buffer.byteLength(text);
      unsent.add(size);
      socket.send(text, () => unsent.add(-size));
    },
    carriesVolatile: false,
    sendVolatile() {},
    pauseReading: () => socket.pause(),
    resumeReading: () => socket.resume(),
    close(reason, how) {
      // Who does not read would not read the closing handshake either.
      if (unsent.isTooMuchForGoodbye) return socket.terminate();
      socket.resume();
      socket.close(how?.invitesBack ? 1012 : 1008, plain(reason));
    },
  };
}

/** At most 123 bytes fit into a close frame. */
function plain(reason: string): string {
  return reason.replace(/[^ -~]/g, '?').slice(0, 120);
}
