/**
 * Stands before a right server and does one thing wrong. It relays REST, Socket.IO (both transports) and plain WebSockets;
 * it knows of their frames only where an event stands in them.
 */
import { createServer, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { WebSocket, WebSocketServer } from 'ws';
import type { Frame } from '@tendon/conformance';
import type { Mutant, Request } from './mutant.ts';

export interface MutatingProxy extends AsyncDisposable {
  readonly url: string;
}

type Spoil = (event: Frame) => readonly Frame[];

/** Engine.IO's separator between packets of one poll. */
const SEPARATOR = '\u001E';
const EVENT_PACKET = '42';
const HOP_HEADERS = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'upgrade'];

export async function startMutatingProxy(target: string, mutant: Mutant): Promise<MutatingProxy> {
  /** Of a client that polls: all of its requests are one connection. */
  const polling = new Map<string, Spoil>();
  const server = createServer((request, response) => void relay(request, response, { target, mutant, polling }));
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  server.on('upgrade', (request, socket, head) => relaySocket(request, { socket, head, sockets, target, mutant }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Relaying {
  readonly target: string;
  readonly mutant: Mutant;
  readonly polling: Map<string, Spoil>;
}

async function relay(request: IncomingMessage, response: ServerResponse, { target, mutant, polling }: Relaying): Promise<void> {
  const asked = askedOf(request, target);
  const url = mutant.address?.(asked) ?? asked.url;
  const headers = { ...(mutant.headers?.(request.headers) ?? request.headers), host: url.host };
  const outgoing = httpRequest(url, { method: asked.method, headers });
  outgoing.on('error', () => response.destroy());
  outgoing.on('response', async (answer: IncomingMessage) => {
    const status = answer.statusCode ?? 502;
    const isPoll = url.pathname.startsWith('/socket.io') && asked.method === 'GET';
    const isJson = /application\/json/.test(answer.headers['content-type'] ?? '');
    if (!isPoll && !isJson) {
      response.writeHead(status, endToEnd(answer.headers));
      return void answer.pipe(response);
    }
    const text = (await buffer(answer)).toString('utf8');
    const spoiled = isPoll
      ? { status, text: spoilPoll(text, spoilerOf(url, polling, mutant)) }
      : spoilAnswer(asked, { status, text }, mutant);
    if (isPoll && mutant.delayMs) await new Promise((resolve) => setTimeout(resolve, mutant.delayMs));
    response.writeHead(spoiled.status, endToEnd(answer.headers)).end(spoiled.text);
  });
  request.pipe(outgoing);
}

function spoilerOf({ searchParams }: URL, polling: Map<string, Spoil>, mutant: Mutant): Spoil {
  const session = searchParams.get('sid') ?? '';
  const spoil = polling.get(session) ?? spoilerFor(mutant);
  polling.set(session, spoil);
  return spoil;
}

function spoilAnswer(asked: Request, { status, text }: { readonly status: number; readonly text: string }, { answer }: Mutant) {
  if (!answer) return { status, text };
  const spoiled = answer(asked, { status, body: JSON.parse(text === '' ? 'null' : text) });
  return { status: spoiled.status, text: JSON.stringify(spoiled.body) };
}

function spoilPoll(text: string, spoil: Spoil): string {
  return text
    .split(SEPARATOR)
    .flatMap((packet) => spoilPacket(packet, spoil))
    .join(SEPARATOR);
}

interface SocketRelaying {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly sockets: WebSocketServer;
  readonly target: string;
  readonly mutant: Mutant;
}

function relaySocket(request: IncomingMessage, { socket, head, sockets, target, mutant }: SocketRelaying): void {
  const asked = askedOf(request, target);
  const url = mutant.address?.(asked) ?? asked.url;
  const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(/,\s*/).filter(Boolean);
  const headers = Object.fromEntries(
    Object.entries(mutant.headers?.(request.headers) ?? request.headers).filter(
      ([name]) => !/^(sec-websocket|connection|upgrade|host)/.test(name),
    ),
  );
  const upstream = new WebSocket(url.href.replace(/^http/, 'ws'), protocols, {
    headers: headers as Record<string, string>,
    perMessageDeflate: false,
  });
  const early: unknown[] = [];
  const hold = (data: unknown, isBinary: boolean): void => void early.push([data, isBinary]);
  upstream.on('message', hold);
  upstream.once('error', () => socket.destroy());
  upstream.once('unexpected-response', (_request, { statusCode, statusMessage }) => {
    socket.end(`HTTP/1.1 ${statusCode} ${statusMessage}\r\nconnection: close\r\n\r\n`);
  });
  upstream.once('open', () =>
    sockets.handleUpgrade(request, socket, head, (client) => {
      upstream.off('message', hold);
      const spoil = spoilerFor(mutant);
      const send = (text: string): void => {
        for (const packet of spoilPacket(text, spoil)) later(mutant, () => client.send(packet));
      };
      const forward = (data: unknown, isBinary: boolean): void => (isBinary ? client.send(data as Buffer) : send(String(data)));
      for (const [data, isBinary] of early as [unknown, boolean][]) forward(data, isBinary);
      upstream.on('message', forward);
      client.on('message', (data, isBinary) => upstream.send(isBinary ? data : String(data)));
      client.on('close', () => upstream.terminate());
      upstream.on('close', (code, reason) => (isSendable(code) ? client.close(code, reason) : client.terminate()));
    }),
  );
}

function later({ delayMs }: Mutant, send: () => void): void {
  if (delayMs === undefined) send();
  else setTimeout(send, delayMs);
}

/** A text frame of Socket.IO or of `/ws`; what is no event stays as it is. */
function spoilPacket(packet: string, spoil: Spoil): readonly string[] {
  if (packet.startsWith(EVENT_PACKET)) {
    const [name, payload] = JSON.parse(packet.slice(EVENT_PACKET.length)) as [string, Frame];
    return name === 'oh_event' && isEvent(payload) ? spoil(payload).map((event) => EVENT_PACKET + JSON.stringify([name, event])) : [packet];
  }
  if (!packet.startsWith('{')) return [packet];
  const frame = JSON.parse(packet) as Frame;
  return isEvent(frame) ? spoil(frame).map((event) => JSON.stringify(event)) : [packet];
}

/** Frames of the oldest generations have no id. */
function isEvent(frame: Frame): boolean {
  return typeof (frame.action ?? frame.observation) === 'string' && !('token' in frame);
}

function spoilerFor({ events }: Mutant): Spoil {
  return events?.() ?? ((event) => [event]);
}

function askedOf(request: IncomingMessage, target: string): Request {
  return { method: request.method ?? 'GET', url: new URL(request.url ?? '/', target) };
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_HEADERS.includes(name)));
}

/** 1005 and 1006 only say that none was sent. */
function isSendable(code: number): boolean {
  return code === 1000 || (code >= 1002 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || code >= 3000;
}
