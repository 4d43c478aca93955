/** Of a request over HTTP. */
interface RequestTimeouts {
  /** From the connection, or the end of the request before, to the end of a request's headers; an upgrade is one. */
  readonly headersMs: number;
  /** To the end of its body: large files may come over slow lines. */
  readonly requestMs: number;
  /** How often requests are looked at for it. */
  readonly checkMs: number;
}

/** How long the server waits, at every endpoint, for a client that stopped in the middle of something. */
export interface ClientTimeouts extends RequestTimeouts {
  /** From the opening of a Socket.IO transport to the packet that connects. */
  readonly connectMs: number;
  /** From a Socket.IO connection without a conversation to the frame that shows its generation; then its conversation begins. */
  readonly firstFrameMs: number;
  /** From an upgrade to WebSocket to the end of its probe. */
  readonly upgradeMs: number;
  /** Between signs of life that are asked for. */
  readonly pingMs: number;
  /** For the answer to one, over Socket.IO; at `/ws` until the next is due. */
  readonly pongMs: number;
  /** For the answer to a closing handshake. */
  readonly closeMs: number;
}

export const CLIENT_TIMEOUTS: ClientTimeouts = {
  headersMs: 20_000,
  requestMs: 5 * 60_000,
  checkMs: 5_000,
  connectMs: 10_000,
  firstFrameMs: 1_000,
  upgradeMs: 10_000,
  pingMs: 25_000,
  pongMs: 20_000,
  closeMs: 2_000,
};
