import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { catalogError, opendevinWs } from '@tendon/protocol';
import { WebSocketServer, type RawData } from 'ws';
import { Connection } from '../connection.ts';
import { MAX_BODY_BYTES } from '../http/app.ts';
import type { ServerContext } from '../http/context.ts';
import { authorize } from '../security/authorize.ts';
import { cursorFrom } from './cursor.ts';
import { WsSession } from './legacy/ws-session.ts';
import { expectLife } from './expect-life.ts';
import { plainWire } from './plain-wire.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';
import type { Wire } from './wire.ts';

/** `/ws`: one JSON object per text frame, as in the founding documents. Upgrades for other paths are left to others. */
export function servePlainWs(http: Server, context: ServerContext): { close(): void } {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_BODY_BYTES, perMessageDeflate: false });
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = request.url?.split('?', 1)[0];
    if (path !== '/ws' && path !== '/ws/') {
      if (!path?.startsWith('/socket.io')) refuseUpgrade(socket, catalogError('NOT_FOUND'));
      return;
    }
    const { localAddress } = request.socket;
    const refusal = authorize({ url: request.url!, headers: request.headers, localAddress, isPublic: false }, context.config);
    if (refusal) return refuseUpgrade(socket, refusal);
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const wire = plainWire(opened);
      const client = clientFor(wire, request, context);
      context.metrics.connected(wire.closed);
      void expectLife(opened, wire, context.clock);
      opened.on('error', (cause) => context.logger.debug({ err: cause }, 'a socket failed'));
      opened.on('message', (data, isBinary) => {
        context.metrics.seen(context.clock.now());
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

/** With `conversation_id` (ours) the client goes on where it was; without, it is one of 2024. */
function clientFor(wire: Wire, request: IncomingMessage, context: ServerContext): Client {
  const query = new URLSearchParams(request.url!.split('?')[1]);
  const id = query.get('conversation_id');
  if (id === null) return new WsSession(wire, request, context);
  const connection = new Connection({ ...context, ...context.engine, wire, dialect: opendevinWs });
  void begin(connection, wire, id, cursorFrom(query.get('latest_event_id')));
  return connection;
}

async function begin(connection: Connection, wire: Wire, id: string, cursor: number): Promise<void> {
  connection.greet();
  const error = await connection.attach(id, cursor);
  if (!error) return;
  connection.refuse(error);
  wire.close(error.message);
}

function receive(client: Client, data: RawData, isBinary: boolean): void {
  if (isBinary) return client.refuse(catalogError('INVALID_FRAME', 'it is binary'));
  let frame: unknown;
  try {
    frame = JSON.parse((data as Buffer).toString('utf8'));
  } catch {
    return client.refuse(catalogError('INVALID_JSON'));
  }
  client.receive(frame);
}
