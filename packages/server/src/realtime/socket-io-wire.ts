import type { Duplex } from 'node:stream';
import type { Socket } from 'socket.io';
import { Unsent, type Wire } from './wire.ts';
import type { IncomingMessage } from 'node:http';

interface Packet {
  readonly data?: string | Buffer;
}
/** Only the WebSocket transport has one. */
interface Underneath {
  readonly socket?: { pause?(): void; resume?(): void; terminate?(): void; readonly _socket?: Duplex };
}

/** Events on `oh_event`, volatile frames on `tendon_volatile`. A polling client is paused by holding its requests. */
export function socketIoWire(socket: Socket, polls: HeldPolls): Wire {
  const closed = new AbortController();
  const unsent = new Unsent(closed.signal);
  const { conn } = socket;
  // It is what the client sends as `sid`; only the type says that it is private.
  const { id } = conn as unknown as { readonly id: string };
  let queued = 0;
  conn.on('packetCreate', (packet: Packet) => {
    const size = packet.data?.length ?? 0;
    queued += size;
    unsent.add(size);
  });
  const transport = () => (conn.transport as unknown as Underneath).socket;
  // What is queued goes to the transport as one batch; its `drain` says that the operating system took it.
  conn.on('flush', () => {
    const batch = queued;
    queued = 0;
    conn.transport.once('drain', () => unsent.add(-batch));
    // The batch is handed over between `flush` and the connection's `drain`, in one tick: one system call then, not one per packet.
    const stream = transport()?._socket;
    if (!stream) return;
    stream.cork();
    conn.once('drain', () => stream.uncork());
  });
  socket.once('disconnect', () => {
    closed.abort();
    polls.resume(id);
  });
  let isPaused = false;
  // A client that was paused while it polled stays paused on its new transport.
  conn.on('upgrade', () => isPaused && transport()?.pause?.());
  return {
    closed: closed.signal,
    unsent,
    send: (frame) => void socket.emit('oh_event', frame),
    carriesVolatile: true,
    sendVolatile: (frame) => void socket.emit('tendon_volatile', frame),
    pauseReading() {
      isPaused = true;
      if (conn.transport.name === 'polling') polls.pause(id);
      else transport()?.pause?.();
    },
    resumeReading() {
      isPaused = false;
      polls.resume(id);
      transport()?.resume?.();
    },
    close(_reason, how) {
      const underneath = transport();
      if (unsent.isTooMuchForGoodbye) return underneath?.terminate ? underneath.terminate() : conn.close(true);
      underneath?.resume?.();
      polls.resume(id);
      // After a disconnect of the server's a client stays away.
      if (how?.invitesBack) conn.close();
      else socket.disconnect(true);
    },
  };
}

/**
 * Holds the requests by which clients that poll send: such a client has no socket that could be paused.
 *
 * SIW1  While a client is paused, at most one of its requests waits, with its body unread; another is refused as the library refuses it.
 * SIW2  A waiting request continues when the client is resumed or gone. Polls that only read are never held.
 */

type Next = (error?: Error) => void;

export class HeldPolls {
  /** By connection id: the waiting request, if any. */
  readonly #paused = new Map<string, Next | undefined>();

  pause(connection: string): void {
    if (!this.#paused.has(connection)) this.#paused.set(connection, undefined);
  }

  resume(connection: string): void {
    const next = this.#paused.get(connection);
    this.#paused.delete(connection);
    next?.();
  }

  /** Runs before the library's own handling. */
  pass({ method, url }: IncomingMessage, next: Next): void {
    const id = method === 'POST' ? new URLSearchParams(url?.split('?')[1]).get('sid') : null;
    if (id === null || !this.#paused.has(id)) return next();
    if (this.#paused.get(id)) return next(new Error('a request of this client is held already'));
    this.#paused.set(id, next);
  }
}
