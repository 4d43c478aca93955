import type { Clock } from '@tendon/core';
import type { WebSocket } from 'ws';
import type { Wire } from './wire.ts';

export const HEARTBEAT_MS = 25_000;

/** Asks for a sign of life every 25 s and hangs up without one. A client that merely does not read has its own deadline. */
export async function expectLife(socket: WebSocket, wire: Wire, clock: Clock): Promise<void> {
  for (;;) {
    let isAlive = false;
    socket.once('pong', () => (isAlive = true));
    socket.ping();
    const isOver = await clock.sleep(HEARTBEAT_MS, { signal: wire.closed }).then(
      () => false,
      () => true,
    );
    if (isOver) return;
    if (!isAlive && wire.unsentBytes === 0) return socket.terminate();
  }
}
