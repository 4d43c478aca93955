import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { Frames, type Frame } from './frames.ts';
import { parsedJson } from './parsed-json.ts';
import type { Peer, PlainSocketAsk, SocketIoAsk } from './target.ts';

interface PeerOptions {
  readonly key: string | undefined;
  readonly patienceMs: number;
}

/** A client of Socket.IO that does not come back by itself. */
export function openSocketIo(url: string, { key, patienceMs }: PeerOptions, ask: SocketIoAsk = {}): Peer {
  const { query = {}, transports = ['websocket'], says = 'oh_user_action', origin } = ask;
  const { frames, volatile, ended, end } = receive(patienceMs);
  const socket = io(url, {
    transports: [...transports],
    query: { ...(key !== undefined && { session_api_key: key }), ...query },
    forceNew: true,
    reconnection: false,
    ...(origin !== undefined && { extraHeaders: { origin } }),
  });
  socket.on('oh_event', (frame: unknown) => frames.push(asFrame(frame)));
  socket.on('tendon_volatile', (frame: unknown) => volatile.push(asFrame(frame)));
  socket.on('connect_error', ({ message }) => end(message));
  socket.on('disconnect', (reason) => end(reason));
  return { frames, volatile, ended, close: () => void socket.close(), send: (frame) => void socket.emit(says, frame) };
}

/** A plain WebSocket, open or refused: then `ended` has resolved. */
export async function openWebSocket(url: string, { key, patienceMs }: PeerOptions, ask: PlainSocketAsk = {}): Promise<Peer> {
  const { path = '/ws', protocols = [], headers = {} } = ask;
  const { frames, volatile, ended, end } = receive(patienceMs);
  const socket = new WebSocket(new URL(path, url.replace(/^http/, 'ws')), [...protocols], {
    headers: { ...(key !== undefined && { 'x-session-api-key': key }), ...headers },
    handshakeTimeout: patienceMs,
  });
  socket.on('message', (data) => frames.push(asFrame(parsedJson(String(data)))));
  socket.on('close', (code, reason) => end(`${code} ${String(reason)}`));
  await new Promise<void>((open) => {
    socket.once('open', open);
    socket.on('error', ({ message }) => (end(message), open()));
  });
  const send = (frame: unknown): void => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  return { frames, volatile, ended, close: () => socket.terminate(), send };
}

function receive(patienceMs: number) {
  const frames = new Frames(patienceMs);
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  void ended.then((why) => frames.end(why));
  return { frames, volatile: new Frames(patienceMs), ended, end };
}

function asFrame(value: unknown): Frame {
  return typeof value === 'object' && value !== null ? (value as Frame) : { raw: value };
}
