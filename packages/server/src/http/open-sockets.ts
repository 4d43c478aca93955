import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Keeps the connections of a server, upgraded ones too, so that it can end although a client does not hang up. */
export function openSockets(server: Server): { destroyAll(): void } {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    destroyAll() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
