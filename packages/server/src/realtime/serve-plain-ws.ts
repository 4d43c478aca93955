import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { catalogError, opendevinWs, type CatalogError } from '@tendon/protocol';
import type { RawData } from 'ws';
import { refuseUpgrade as refuse } from '@tendon/runtime';
import { Connection } from './connection.ts';
import { MAX_BODY_BYTES } from '../platform/http/app.ts';
import { admit } from '../platform/http/admit.ts';
import { needOfSocket } from '../platform/auth/access-table.ts';
import type { Principal } from '../platform/auth/identify.ts';
import { cursorFrom } from './cursor.ts';
import { endWithAccess, isAdmin, isWatcher } from './end-with-access.ts';
import { expectLife } from './expect-life.ts';
import { plainWire } from './plain-wire.ts';
import { webSocketServer } from './web-socket-server.ts';
import type { Wire } from './wire.ts';
import type { RealtimeContext } from './realtime-context.ts';
import { failureBody } from '../platform/http/failure.ts';

/** Serves a client that names no conversation. */
type BeginSession = (wire: Wire, request: IncomingMessage, isAdmin: boolean) => Client;

/** `/ws`: one JSON object per text frame, as in the seed documents. Upgrades for other paths are left to others. */
export function servePlainWs(http: Server, context: RealtimeContext, beginSession: BeginSession): { close(): void } {
  const sockets = new (webSocketServer(context.patience))({ noServer: true, maxPayload: MAX_BODY_BYTES, perMessageDeflate: false });
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = request.url?.split('?', 1)[0];
    if (path !== '/ws' && path !== '/ws/') {
      if (!path?.startsWith('/socket.io')) refuseUpgrade(socket, catalogError('NOT_FOUND'));
      return;
    }
    const conversation = queryOf(request).get('conversation_id') ?? undefined;
    const access = admit(context, request, { need: needOfSocket('/ws', conversation), conversation, isSocket: true });
    if (!access.ok) return refuseUpgrade(socket, access.error);
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const wire = plainWire(opened);
      const { principal } = access;
      const id = queryOf(request).get('conversation_id');
      const client = id === null ? beginSession(wire, request, isAdmin(principal)) : connect(wire, request, principal, id, context);
      void endWithAccess(access.principal, wire);
      context.metrics.connected(wire.closed);
      void expectLife(opened, wire, context);
      opened.on('error', (cause) => context.logger.debug({ err: cause }, 'a socket failed'));
      opened.on('message', (data, isBinary) => {
        context.metrics.seen(context.clock.now());
        context.metrics.loop.begun('a frame of /ws');
        receive(client, data, isBinary);
      });
    });
  });
  return {
    close() {
      for (const socket of sockets.clients) socket.close(1001, 'the server is leaving');
      sockets.close();
    },
  };
}

type Client = Pick<Connection, 'receive' | 'refuse'>;

/** With `conversation_id` (ours) the client goes on where it was. */
function connect(wire: Wire, request: IncomingMessage, principal: Principal, id: string, context: RealtimeContext): Connection {
  const own = { isWatcher: isWatcher(principal), isAdmin: isAdmin(principal) };
  const connection = new Connection({ ...context, ...own, wire, dialect: opendevinWs });
  connection.greet();
  void connection.begin(id, cursorFrom(queryOf(request).get('latest_event_id')));
  return connection;
}

function queryOf({ url }: IncomingMessage): URLSearchParams {
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
function refuseUpgrade(socket: Duplex, error: CatalogError): void {
  refuse(socket, error.status, failureBody(error));
}
