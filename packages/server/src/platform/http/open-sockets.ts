import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface OpenSockets {
  readonly count: number;
  destroyAll(): void;
}

/** Keeps the connections of a server, upgraded ones too, so that it can end although a client does not hang up. */
export function openSockets(server: Server): OpenSockets {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    get count() {
      return sockets.size;
    },
    destroyAll() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
