import { connect } from 'node:net';
import type { BrowserWish } from '@tendon/protocol/executor-api';
import type { BrowserHost } from './browser-host.ts';

/** A browser that the server starts beside this sandbox, in its network, by connecting; it lives as long as the connection. */
export function connectBrowserHost(socketPath: string, wish: BrowserWish): BrowserHost {
  const socket = connect(socketPath);
  let why = 'the connection to it was lost';
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === 'connect') why = 'the server, which starts it beside this sandbox, does not answer';
  });
  socket.write(`${JSON.stringify(wish)}\n`);
  return {
    input: socket,
    output: socket,
    ended: new Promise((resolve) => socket.once('close', () => resolve(why))),
    get hasEnded() {
      return socket.destroyed;
    },
    kill: () => void socket.destroy(),
  };
}
