/**
 * A person with websocat at `/socket.io`: the transport's frames are typed by hand, and the one that asks to be let in (`40`) is easily
 * left out, as in the guides of the time. Who names a conversation and says something else, or nothing, is let in all the same.
 *
 * LIS1  Until it is let in, such a client's packets are held, at most `MAX_HELD` and `MAX_HELD_CHARS`; then they are handled in order.
 * LIS2  A `40` that comes late is taken for the one that was left out. Everybody else's packets pass untouched.
 */
import type { IncomingMessage } from 'node:http';
import type { Server } from 'socket.io';
import { MAX_BODY_BYTES } from '../platform/http/app.ts';

const SILENT_MS = 1_000;
const MAX_HELD = 64;
/** One message with pictures. */
const MAX_HELD_CHARS = MAX_BODY_BYTES;
/** Socket.IO's CONNECT to the main namespace, without the transport's own digit. */
const CONNECT = '0';

/** A message without data is `undefined`. */
type Packet = string | Buffer | undefined;
type Take = (packet: Packet) => void;

/** Of an engine's connection what is used here. */
interface Connection {
  readonly request: IncomingMessage;
  readonly transport: { readonly name: string };
  listeners(event: 'data'): readonly unknown[];
  removeAllListeners(event: 'data'): void;
  on(event: 'data', take: Take): void;
  once(event: 'close', then: () => void): void;
  close(): void;
}

/** To be called after the server's own handler of connections was set. */
export function letInSilent(io: Server): void {
  const whenIn = new WeakMap<object, () => void>();
  (io.engine as unknown as { on(event: 'connection', then: (connection: Connection) => void): void }).on('connection', (connection) => {
    if (mayBeTyped(connection)) whenIn.set(connection, watch(connection));
  });
  io.on('connection', ({ conn }) => whenIn.get(conn)?.());
}

function mayBeTyped({ request, transport }: Connection): boolean {
  return transport.name === 'websocket' && new URLSearchParams(request.url?.split('?')[1]).has('conversation_id');
}

/** Stands before the library's own listener; what is returned is to be called when the client is in. */
function watch(connection: Connection): () => void {
  const takers = connection.listeners('data') as readonly Take[];
  const pass = (packet: Packet): void => takers.forEach((take) => take.call(connection, packet));
  let held: Packet[] | undefined = [];
  let heldChars = 0;
  let state: 'waiting' | 'asked' | 'was not asked' | 'asked late' = 'waiting';

  function ask(): void {
    if (state !== 'waiting') return;
    state = 'was not asked';
    pass(CONNECT);
  }
  const timer = setTimeout(ask, SILENT_MS).unref();
  connection.once('close', () => clearTimeout(timer));
  connection.removeAllListeners('data');
  connection.on('data', (packet) => {
    if (typeof packet === 'string' && packet.startsWith(CONNECT)) {
      const isLate = state === 'was not asked';
      state = isLate ? 'asked late' : state === 'waiting' ? 'asked' : state;
      return isLate ? undefined : pass(packet);
    }
    if (held === undefined) return pass(packet);
    heldChars += packet?.length ?? 0;
    if (held.length >= MAX_HELD || heldChars > MAX_HELD_CHARS) return connection.close();
    held.push(packet);
    ask();
  });
  return () => {
    const waiting = held ?? [];
    held = undefined;
    waiting.forEach(pass);
  };
}
