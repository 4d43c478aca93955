import { WebSocketServer, type ServerOptions } from 'ws';
import type { ClientPatience } from '../http/client-patience.ts';

/** The one kind of WebSocket server there is, at `/ws` and below Socket.IO: who does not answer its goodbye is cut off. */
export function webSocketServer({ closeMs }: ClientPatience): typeof WebSocketServer {
  return class extends WebSocketServer {
    constructor(options?: ServerOptions, callback?: () => void) {
      // The option is younger than its type.
      super({ ...options, closeTimeout: closeMs } as ServerOptions, callback);
    }
  } as typeof WebSocketServer;
}
