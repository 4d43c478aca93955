/**
 * Socket.IO's connection state recovery, over the log: a client of `openhands-events.md` has no word for its conversation, but its library
 * comes back by itself after a cut line. The server names the session (`pid`) when it connects, the client brings it back with the last
 * text that ended an event (`offset`). Here the session is the conversation that the client begins, and the text is the id of the last event,
 * so that what was missed is read from the log: nothing is buffered for clients that are away, and it outlives a restart of the server.
 */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'socket.io';
import type { Wire } from './wire.ts';

/** What the client's library says of the connection before; untrusted. */
export interface Recovery {
  readonly conversation: string;
  /** The id of the last event that it got. */
  readonly latestEventId: string | undefined;
}

export function recoveryOf({ handshake }: Socket): Recovery | undefined {
  const { pid, offset } = handshake.auth as Readonly<Record<string, unknown>>;
  if (typeof pid !== 'string' || !/^[0-9a-f]{32}$/.test(pid)) return undefined;
  return { conversation: pid, latestEventId: typeof offset === 'string' ? offset : undefined };
}

/** To be called before the client is told that it is connected. Returns the id that it will come back with. */
export function nameSession(socket: Socket, conversation: string = randomUUID().replaceAll('-', '')): string {
  // The library sends it only with its own recovery, which keeps every packet to everybody in memory.
  (socket as unknown as { pid: string }).pid = conversation;
  return conversation;
}

/** The same wire; behind each batch of events goes the id of the last, as an event that ends with a text. */
export function withOffsets(wire: Wire, sendOffset: (offset: string) => void): Wire {
  let latest: number | undefined;
  return {
    ...wire,
    send(frame) {
      wire.send(frame);
      if (typeof frame.id !== 'number') return;
      if (latest === undefined) setImmediate(flush);
      latest = frame.id;
    },
  };

  function flush(): void {
    if (latest !== undefined && !wire.closed.aborted) sendOffset(String(latest));
    latest = undefined;
  }
}
