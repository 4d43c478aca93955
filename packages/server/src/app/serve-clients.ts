import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as SocketIoServer } from 'socket.io';
import { WsSession } from '../compat/opendevin/sockets/ws-session.ts';
import { takeOver } from '../platform/http/take-over.ts';
import { routePreviews } from '../previews/route-previews.ts';
import { servePlainWs } from '../realtime/serve-plain-ws.ts';
import { serveShell } from '../realtime/serve-shell.ts';
import { serveSocketIo } from '../realtime/serve-socket-io.ts';
import type { ServerContext } from './context.ts';
import { createApp } from './http-app.ts';
import { RESOURCES } from './resources.ts';

/** What clients of a server are connected to. */
export interface ServedClients {
  readonly io: SocketIoServer;
  /** Ends their connections; their libraries connect anew. */
  hangUp(): void;
  /** And takes no others. */
  close(): Promise<void>;
}

/** Without a key struck, a person's own shell is given up. */
const SHELL_IDLE_MS = 30 * 60_000;

/** From now on the server answers everything that it offers: REST, Socket.IO, `/ws`, shells and previews. */
export async function serveClients(http: Server, context: ServerContext, shellIdleMs = SHELL_IDLE_MS): Promise<ServedClients> {
  const app = await createApp(context, RESOURCES);
  await app.ready();
  takeOver(http, 'request', (_pass, request: IncomingMessage, response: ServerResponse) => {
    app.routing(request, response);
    return true;
  });
  const socketIo = serveSocketIo(http, context);
  const plain = servePlainWs(http, context, (wire, request, by) => new WsSession(wire, request, { ...context, by }));
  const shells = serveShell(http, context, shellIdleMs);
  routePreviews(http, context);
  return {
    io: socketIo.io,
    hangUp() {
      for (const each of [socketIo, plain, shells]) each.hangUp();
    },
    async close() {
      for (const each of [plain, shells]) each.close();
      await Promise.allSettled([socketIo.close(), app.close()]);
    },
  };
}
