import type { HttpConfig } from '../config/config.ts';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The address that a client takes, with the port that was really bound. */
export function urlOf(address: string | { readonly port: number } | null, host: string): string {
  const port = typeof address === 'object' && address ? address.port : 0;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/** Why it does not listen, and what to set. */
export function listenError(cause: unknown, { host, port }: Pick<HttpConfig, 'host' | 'port'>): Error {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return new Error(`Port ${port} of ${host} is in use. Set PORT to another one, or end the other server.`, { cause });
  if (code === 'EACCES') return new Error(`Port ${port} needs more rights. Set PORT to one above 1023.`, { cause });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return new Error(`HOST ${host} is not an address of this machine.`, { cause });
  return cause as Error;
}

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
