import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { catalogError, opendevinWs } from '@tendon/protocol';
import { WebSocketServer, type RawData } from 'ws';
import { Connection } from '../connection.ts';
import { MAX_BODY_BYTES } from '../http/app.ts';
import type { ServerContext } from '../http/context.ts';
import { authorize } from '../security/authorize.ts';
import { cursorFrom } from './cursor.ts';
import { expectLife } from './expect-life.ts';
import { plainWire } from './plain-wire.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';

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
      const connection = new Connection({ ...context, ...context.engine, wire, dialect: opendevinWs });
      context.metrics.connected(wire.closed);
      void expectLife(opened, wire, context.clock);
      opened.on('error', (cause) => context.logger.debug({ err: cause }, 'a socket failed'));
      opened.on('message', (data, isBinary) => {
        context.metrics.seen(context.clock.now());
        receive(connection, data, isBinary);
      });
      void begin(connection, wire.close, new URLSearchParams(request.url!.split('?')[1]));
    });
  });
  return {
    close() {
      for (const socket of sockets.clients) socket.close(1001, 'the server is leaving');
      sockets.close();
    },
  };
}

/** Without `conversation_id` the first task makes a conversation; with it the client goes on where it was. */
async function begin(connection: Connection, close: (reason: string) => void, query: URLSearchParams): Promise<void> {
  connection.greet();
  const id = query.get('conversation_id');
  if (id === null) return;
  const error = await connection.attach(id, cursorFrom(query.get('latest_event_id')));
  if (!error) return;
  connection.refuse(error);
  close(error.message);
}

function receive(connection: Connection, data: RawData, isBinary: boolean): void {
  if (isBinary) return connection.refuse(catalogError('INVALID_FRAME', 'it is binary'));
  let frame: unknown;
  try {
    frame = JSON.parse((data as Buffer).toString('utf8'));
  } catch {
    return connection.refuse(catalogError('INVALID_JSON'));
  }
  connection.receive(frame);
}
