import type { WebSocket } from 'ws';
import type { Wire } from './wire.ts';
import type { RealtimeContext } from './realtime-context.ts';

/** Asks for a sign of life again and again, and hangs up without one. A client that merely does not read has its own deadline. */
export async function expectLife(
  socket: WebSocket,
  wire: Wire,
  { clock, patience }: Pick<RealtimeContext, 'clock' | 'patience'>,
): Promise<void> {
  for (;;) {
    let isAlive = false;
    socket.once('pong', () => (isAlive = true));
    socket.ping();
    const isOver = await clock.sleep(patience.pingMs, { signal: wire.closed }).then(
      () => false,
      () => true,
    );
    if (isOver) return;
    if (!isAlive && wire.unsent.bytes === 0) return socket.terminate();
  }
}
