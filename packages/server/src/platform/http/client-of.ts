/**
 * Who sent a request, where another server of ours passed it on. Only what has verified that server's signature (`cluster`) notes it
 * here; without it a request comes from the other end of its connection, whatever its headers say.
 */
import type { IncomingMessage } from 'node:http';

/** What the server that the client reached vouches for. Host and Origin were checked there. */
export interface Hop {
  /** The id of that server. */
  readonly from: string;
  /** The address of the client; empty when that server itself asks. */
  readonly client: string;
  /** The conversation that the receiver is taken to have; unset where the request itself says what it is about. */
  readonly conversation?: string | undefined;
}

const HOPS = new WeakMap<IncomingMessage, Hop>();

export function noteHop(request: IncomingMessage, hop: Hop): void {
  HOPS.set(request, hop);
}

/** Undefined: the client reached this server itself. */
export function hopOf(request: IncomingMessage): Hop | undefined {
  return HOPS.get(request);
}

/** The address of the client, which limits count by. */
export function clientAddress(request: IncomingMessage): string {
  return HOPS.get(request)?.client ?? request.socket.remoteAddress ?? '';
}
