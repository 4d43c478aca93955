/**
 * Socket.IO's connection state recovery, over the log: a client of `openhands-events.md` does not know its conversation, but its library
 * reconnects by itself. The server names the session (`pid`) when the client connects, and the client returns it with the last
 * text that ended an event (`offset`). Here the session is the conversation that the client begins, and the text is the id of the last event,
 * so that missed events are read from the log: nothing is buffered for absent clients, and it works across a restart of the server.
 */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'socket.io';
import type { Wire } from './wire.ts';

/** The client library's data of its last connection; untrusted. */
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

/** Must be called before the client is notified that it is connected. Returns the id with which it will reconnect. */
export function nameSession(socket: Socket, conversation: string = randomUUID().replaceAll('-', '')): string {
  // The library sends it only with its own recovery, which stores every packet to every client in memory.
  (socket as unknown as { pid: string }).pid = conversation;
  return conversation;
}

/** The same wire; after each batch of events it sends the id of the last one, as an event that ends with a text. */
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
