import type { WebSocket } from 'ws';
import { UnsentBytes, type Wire } from './wire.ts';

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
      socket.resume();
      socket.close(1008, reason.slice(0, 120));
      // A client that does not answer the closing handshake is cut off.
      setTimeout(() => socket.terminate(), 2_000).unref();
    },
  };
}
