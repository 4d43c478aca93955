/**
 * Bridges Socket.IO clients that name no conversation when they connect: their first packets show which one they mean. If another server
 * has it, this one connects there, replays the packets, and from then on passes packets both ways, whichever transport the client uses.
 *
 * BSI1  The packets of a client are held while its conversation is looked up, at most `MAX_HELD` of them, and then passed on in order.
 * BSI2  The hop between the servers names the conversation, so the receiver does not bridge again.
 * BSI3  When the other server ends, the client's transport is closed, and the client reconnects.
 * BSI4  The other server gets the client's CONNECT first, and the rest only after its answer: the library hangs up on earlier packets.
 */
import type { IncomingMessage } from 'node:http';
import type { Server } from 'socket.io';
import { WebSocket } from 'ws';
import type { ServerNode } from '@tendon/core';
import { identify } from '../platform/auth/identify.ts';
import { readToken } from '../platform/auth/token.ts';
import { MAX_BODY_BYTES } from '../platform/http/app.ts';
import { clientAddress, hopOf } from '../platform/http/client-of.ts';
import type { Destinations } from './destinations.ts';
import type { ForwardContext } from './forward-to-owner.ts';
import { HOP_HEADER, type HopSignature } from './hop-signature.ts';
import type { OpenPipes } from './open-pipes.ts';
import { CONNECT_MS } from './peer-http.ts';

/** A packet of Socket.IO, without the digit of the transport. */
type Packet = string | Buffer;
type Take = (packet: Packet) => void;

/** The part of an Engine.IO session that is used here. */
interface Session extends SessionEvents {
  readonly request: IncomingMessage;
  readonly writeBuffer: readonly unknown[];
  readonly transport: { readonly socket?: { pause?(): void; resume?(): void } };
  send(packet: Packet): void;
  close(): void;
}

interface SessionEvents {
  listeners(event: 'data'): readonly unknown[];
  removeAllListeners(event: 'data'): void;
  on(event: 'data' | 'drain', take: Take): void;
  once(event: 'close', then: () => void): void;
}

export interface BridgeParts {
  readonly context: ForwardContext;
  readonly destinations: Destinations;
  readonly signature: HopSignature;
  readonly pipes: OpenPipes;
}

const CONNECT = '0';
const DISCONNECT = '1';
const MAX_HELD = 64;
/** With more packets waiting for the client, reading from the other server pauses. */
const MAX_UNREAD_PACKETS = 256;
const MAX_UNSENT_BYTES = 1024 * 1024;
const MAX_INITIALIZE_CHARS = 256 * 1024;

/** Called after the library has set its own handler of sessions. */
export function bridgeSocketIo(io: Server, parts: BridgeParts): void {
  const engine = io.engine as unknown as {
    listeners(event: 'connection'): readonly ((session: Session) => void)[];
    removeAllListeners(event: 'connection'): void;
    on(event: 'connection', then: (session: Session) => void): void;
  };
  const others = engine.listeners('connection');
  engine.removeAllListeners('connection');
  engine.on('connection', (session) => {
    const open = (): void => others.forEach((listener) => listener.call(engine, session));
    if (mayBeRemote(session.request, parts.context)) void new UnnamedSession(session, open, parts);
    else open();
  });
}

function mayBeRemote(request: IncomingMessage, { config, access }: ForwardContext): boolean {
  const { url = '/', headers } = request;
  if (hopOf(request)?.conversation !== undefined || new URLSearchParams(url.split('?')[1]).has('conversation_id')) return false;
  const principal = identify({ url, headers }, { sessionApiKey: config.sessionApiKey, tokens: access });
  return principal !== undefined && principal !== 'wrong';
}

class UnnamedSession {
  readonly #session: Session;
  readonly #open: () => void;
  readonly #parts: BridgeParts;
  /** The client's CONNECT, which authenticates it, as it came. */
  #connect: Packet | undefined;
  #held: Packet[] | undefined;
  /** The listeners of the library, once it has the session. */
  #takers: readonly Take[] | undefined;
  #isDecided = false;

  constructor(session: Session, open: () => void, parts: BridgeParts) {
    this.#session = session;
    this.#open = open;
    this.#parts = parts;
    const timer = setTimeout(() => this.#connect ?? session.close(), parts.context.timeouts.connectMs).unref();
    session.once('close', () => clearTimeout(timer));
    session.on('data', (packet) => this.#take(packet));
  }

  #take(packet: Packet): void {
    if (this.#isDecided) return this.#pass(packet);
    if (this.#held === undefined) return void this.#look(packet);
    this.#held.push(packet);
    if (this.#held.length > MAX_HELD) this.#session.close();
  }

  async #look(packet: Packet): Promise<void> {
    this.#held = [];
    const server = await this.#serverOf(packet).catch((cause: unknown) => {
      this.#parts.context.logger.warn({ err: cause }, 'a client of Socket.IO could not be passed on');
      return undefined;
    });
    const held = this.#held;
    this.#held = undefined;
    if (server) return this.#bridge(server, [packet, ...held]);
    if (!this.#takers) this.#give();
    if (this.#connect === undefined) this.#connect = packet;
    else this.#isDecided = true;
    this.#pass(packet);
    for (const one of held) this.#take(one);
  }

  /** Gives the session to the library. */
  #give(): void {
    const before = this.#session.listeners('data');
    this.#open();
    this.#takers = this.#session.listeners('data').filter((one) => !before.includes(one)) as readonly Take[];
    this.#session.removeAllListeners('data');
    this.#session.on('data', (packet) => this.#take(packet));
  }

  #pass(packet: Packet): void {
    for (const take of this.#takers ?? []) take.call(this.#session, packet);
  }

  async #serverOf(packet: Packet): Promise<{ readonly server: ServerNode; readonly conversation: string } | undefined> {
    const { context, destinations } = this.#parts;
    const conversation = this.#connect === undefined ? recoveredIn(packet) : await conversationIn(packet, context);
    if (conversation === undefined) return undefined;
    const found = await destinations.ofConversation(conversation);
    return found.at === 'peer' ? { server: found.server, conversation } : undefined;
  }

  #bridge({ server, conversation }: { readonly server: ServerNode; readonly conversation: string }, packets: readonly Packet[]): void {
    const connect = this.#connect;
    // The library has answered the CONNECT already: disconnect the client from this server's own conversations.
    if (connect !== undefined) this.#pass(DISCONNECT);
    this.#session.removeAllListeners('data');
    const replayed = connect === undefined ? packets : [connect, ...packets];
    bridge(this.#session, { server, conversation, replayed, isConnected: connect !== undefined }, this.#parts);
  }
}

/** The conversation that a reconnecting client names in its CONNECT. */
function recoveredIn(packet: Packet): string | undefined {
  if (typeof packet !== 'string' || !packet.startsWith(`${CONNECT}{`)) return undefined;
  const { pid } = (parsed(packet.slice(1)) ?? {}) as { readonly pid?: unknown };
  return typeof pid === 'string' && /^[0-9a-f]{32}$/.test(pid) ? pid : undefined;
}

/** The conversation of the token that a client of 0.15 to 0.17 sends in its first event. */
async function conversationIn(packet: Packet, { jwtSecret }: ForwardContext): Promise<string | undefined> {
  const json = typeof packet === 'string' && packet.length <= MAX_INITIALIZE_CHARS ? /^2\d*(\[[^]*)$/.exec(packet)?.[1] : undefined;
  const [, frame] = (json === undefined ? [] : (parsed(json) ?? [])) as readonly { readonly action?: unknown; readonly token?: unknown }[];
  if (frame?.action !== 'initialize' || typeof frame.token !== 'string' || frame.token === '') return undefined;
  return readToken(frame.token, jwtSecret);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

interface Bridged {
  readonly server: ServerNode;
  readonly conversation: string;
  /** What the client has sent so far, its CONNECT first. */
  readonly replayed: readonly Packet[];
  /** The client has an answer to its CONNECT. */
  readonly isConnected: boolean;
}

function bridge(
  session: Session,
  { server, conversation, replayed, isConnected }: Bridged,
  { context, signature, pipes }: BridgeParts,
): void {
  const { request } = session;
  const path = pathOf(request);
  const hop = { from: context.scheduler.self?.id ?? '', client: clientAddress(request), conversation };
  const signed = signature.sign({ method: 'GET', url: path, headers: request.headers }, hop, context.clock.now().getTime());
  const peer = new WebSocket(server.url.replace(/^http/, 'ws') + path, {
    headers: { ...headersOf(request), [HOP_HEADER]: signed },
    perMessageDeflate: false,
    handshakeTimeout: CONNECT_MS,
    maxPayload: 2 * MAX_BODY_BYTES,
  });
  const ended = pipes.add(server, () => peer.terminate());
  const send: Take = (packet) => {
    if (peer.readyState !== peer.OPEN) return;
    peer.send(
      typeof packet === 'string' ? `4${packet}` : packet,
      () => peer.bufferedAmount <= MAX_UNSENT_BYTES && session.transport.socket?.resume?.(),
    );
    if (peer.bufferedAmount > MAX_UNSENT_BYTES) session.transport.socket?.pause?.();
    if (peer.bufferedAmount > 2 * MAX_BODY_BYTES) session.close();
  };
  const waiting: Packet[] = [...replayed];
  /** BSI4: its CONNECT has an answer. */
  let isOpen = false;
  session.on('data', (packet) => (isOpen ? send(packet) : waiting.length < MAX_HELD ? void waiting.push(packet) : session.close()));
  session.on('drain', () => peer.resume());
  session.once('close', () => peer.close());
  peer.on('error', (cause) => context.logger.debug({ err: cause }, 'a bridge to another server failed'));
  peer.once('close', () => {
    ended();
    session.close();
  });
  peer.on('message', (data: Buffer, isBinary) => {
    if (isBinary) return session.send(data);
    const text = data.toString();
    if (text.startsWith('0')) for (const packet of waiting.splice(0, 1)) send(packet);
    else if (text.startsWith('2')) peer.send(`3${text.slice(1)}`);
    else if (text.startsWith('4')) {
      const isAnswer = !isOpen && text.startsWith(`4${CONNECT}`);
      if (!isAnswer || !isConnected) session.send(text.slice(1));
      isOpen ||= isAnswer;
      if (isAnswer) for (const packet of waiting.splice(0)) send(packet);
      if (session.writeBuffer.length > MAX_UNREAD_PACKETS) peer.pause();
    }
  });
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const [path = '/', query] = url.split('?');
  const parameters = new URLSearchParams(query);
  for (const name of ['sid', 't', 'b64']) parameters.delete(name);
  parameters.set('EIO', '4');
  parameters.set('transport', 'websocket');
  return `${path}?${parameters.toString()}`;
}

/** Headers that belong to one connection or one body. */
const OWN_HEADERS = /^(?:sec-websocket-.*|connection|upgrade|keep-alive|transfer-encoding|content-.*|expect|te|trailer|proxy-.*)$/;

function headersOf({ headers }: IncomingMessage): Record<string, string | string[]> {
  const passed = Object.entries(headers).filter(([name, value]) => value !== undefined && !OWN_HEADERS.test(name));
  return Object.fromEntries(passed) as Record<string, string | string[]>;
}
