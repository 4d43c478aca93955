import type { WebSocket } from 'ws';
import { MAX_UNSENT_FOR_GOODBYE, UnsentBytes, type Wire } from './wire.ts';

/** A plain WebSocket: one JSON object per text frame. */
export function plainWire(socket: WebSocket): Wire {
  const unsent = new UnsentBytes();
  const closed = new AbortController();
  socket.once('close', () => {
    closed.abort();
    unsent.clear();
  });
  return {
    closed: closed.signal,
    get unsentBytes() {
      return unsent.bytes;
    },
    drained: (bytes) => unsent.drained(bytes),
    send(frame) {
      if (socket.readyState !== socket.OPEN) return;
      const text = JSON.stringify(frame);
      const size = Buffer.byteLength(text);
      unsent.add(size);
      socket.send(text, () => closed.signal.aborted || unsent.add(-size));
    },
    sendVolatile() {},
    pauseReading: () => socket.pause(),
    resumeReading: () => socket.resume(),
    close(reason) {
      // Who does not read would not read the closing handshake either.
      if (unsent.bytes > MAX_UNSENT_FOR_GOODBYE) return socket.terminate();
      socket.resume();
      socket.close(1008, plain(reason));
    },
  };
}

/** At most 123 bytes fit into a close frame. */
function plain(reason: string): string {
  return reason.replace(/[^ -~]/g, '?').slice(0, 120);
}
