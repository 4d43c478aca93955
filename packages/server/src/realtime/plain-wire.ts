import type { WebSocket } from 'ws';
import { Unsent } from './unsent.ts';
import type { Wire } from './wire.ts';

/** A plain WebSocket: one JSON object per text frame. */
export function plainWire(socket: WebSocket): Wire {
  const closed = new AbortController();
  const unsent = new Unsent(closed.signal);
  socket.once('close', () => closed.abort());
  return {
    closed: closed.signal,
    unsent,
    send(frame) {
      if (socket.readyState !== socket.OPEN) return;
      const text = JSON.stringify(frame);
      const size = Buffer.byteLength(text);
      unsent.add(size);
      socket.send(text, () => unsent.add(-size));
    },
    carriesVolatile: false,
    sendVolatile() {},
    pauseReading: () => socket.pause(),
    resumeReading: () => socket.resume(),
    close(reason) {
      // Who does not read would not read the closing handshake either.
      if (unsent.isTooMuchForGoodbye) return socket.terminate();
      socket.resume();
      socket.close(1008, plain(reason));
    },
  };
}

/** At most 123 bytes fit into a close frame. */
function plain(reason: string): string {
  return reason.replace(/[^ -~]/g, '?').slice(0, 120);
}
