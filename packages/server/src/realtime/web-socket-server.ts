import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type ServerOptions, type WebSocket } from 'ws';
import type { ClientTimeouts } from '../platform/http/client-timeouts.ts';

type OnOpen = (socket: WebSocket, request: IncomingMessage) => void;

/** Frames that the clients of some requests may send at most. */
export interface SmallFrames {
  readonly maxBytes: number;
  readonly appliesTo: (request: IncomingMessage) => boolean;
}

/** The one kind of WebSocket server there is, at `/ws` and below Socket.IO: who does not answer its goodbye is cut off. */
export function webSocketServer({ closeMs }: ClientTimeouts, small?: SmallFrames): typeof WebSocketServer {
  return class extends WebSocketServer {
    readonly #small: WebSocketServer | undefined;

    constructor(options?: ServerOptions, callback?: () => void) {
      // The option is younger than its type.
      const own = { ...options, closeTimeout: closeMs } as ServerOptions;
      super(own, callback);
      this.#small = small && new WebSocketServer({ ...own, maxPayload: small.maxBytes });
    }

    override handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, opened: OnOpen): void {
      if (this.#small && small?.appliesTo(request)) this.#small.handleUpgrade(request, socket, head, opened);
      else super.handleUpgrade(request, socket, head, opened);
    }
  } as typeof WebSocketServer;
}

export interface ServedSockets {
  /** Ends the connections that there are; the clients may connect anew. */
  hangUp(): void;
  /** And takes no others. */
  close(): void;
}

export function servedSockets(server: WebSocketServer): ServedSockets {
  const hangUp = (): void => {
    for (const socket of server.clients) socket.close(1001, 'the server is leaving');
  };
  return {
    hangUp,
    close() {
      hangUp();
      server.close();
    },
  };
}
