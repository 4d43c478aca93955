/** A real server on a free port with a home of its own, and clients that keep what they were sent. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@tendon/core';
import { createMask, Secret } from '@tendon/protocol/masking';
import { waitFor, Seen } from '@tendon/testing';
import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { readConfig, type Config } from './platform/config/config.ts';
import { createLogger } from './platform/logger.ts';
import { systemClock } from './platform/system-clock.ts';
import { startServer, type RunningServer, type ServerOptions } from './app/start-server.ts';

export type WireFrame = Readonly<Record<string, unknown>> & { readonly extras?: Readonly<Record<string, unknown>> };

export interface TestServer extends RunningServer {
  readonly home: string;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** A new conversation's id. */
  create(body?: unknown): Promise<string>;
}

export interface TestOptions extends Omit<ServerOptions, 'logger'> {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Answers of the scripted model, in order. */
  readonly script?: readonly unknown[];
  readonly sessionApiKey?: string;
  readonly log?: (line: string) => void;
}

/** Closed, and its home removed, when the test is over. */
export async function testServer({ env, script, log, sessionApiKey, ...options }: TestOptions = {}): Promise<TestServer> {
  const home = options.home ?? temporaryFolder();
  const config = testConfig(home, { ...env, ...(script && { LLM_MODEL: `scripted/${writeScript(home, script)}` }) });
  const mask = createMask(sessionApiKey ? [new Secret(sessionApiKey)] : []);
  const logger = createLogger({ level: log ? 'debug' : 'silent', mask, destination: { write: (line) => log?.(line) } });
  const starting = startServer({ ...config, ...(sessionApiKey && { sessionApiKey: new Secret(sessionApiKey) }) }, { ...options, logger });
  const server = await waitFor(starting, () => 'the start of the server');
  onTestFinished(() => server.close());
  const request = (path: string, init: RequestInit) =>
    waitFor(fetch(server.url + path, init), () => `the answer to ${init.method ?? 'GET'} ${path}`);
  const post: TestServer['post'] = (path, body, headers) =>
    request(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body ?? {}) });
  return {
    ...server,
    home,
    get: (path, headers) => request(path, { ...(headers && { headers }) }),
    post,
    async create(body) {
      const { conversation_id: id } = (await (await post('/api/conversations', body)).json()) as { conversation_id: string };
      return id;
    },
  };
}

export function testConfig(home: string, env: Readonly<Record<string, string>> = {}): Config {
  const read = readConfig({ PORT: '0', TENDON_HOME: home, RUNTIME: 'none', ...env });
  if (!read.ok) throw new Error(read.problems.join('; '));
  return read.config;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-server-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

function writeScript(home: string, script: readonly unknown[]): string {
  const path = join(home, 'script.json');
  writeFileSync(path, JSON.stringify(script));
  return path;
}

/** Every frame a client was sent. */
export class Frames extends Seen<WireFrame> {
  untilState(state: string): Promise<WireFrame> {
    return this.until((frame) => frame.extras?.agent_state === state, `the state ${state}`);
  }

  get ids(): number[] {
    return this.all.map((frame) => frame.id).filter((id) => typeof id === 'number');
  }
}

export interface PlainClient {
  readonly frames: Frames;
  readonly socket: WebSocket;
  send(frame: unknown): void;
  readonly closed: Promise<number>;
}

/** A plain WebSocket at `/ws`, as websocat opens it. */
export async function plainClient(server: RunningServer, query = '', headers: Readonly<Record<string, string>> = {}): Promise<PlainClient> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws${query}`, { headers });
  const frames = new Frames();
  socket.on('message', (data: Buffer) => frames.take(JSON.parse(data.toString()) as WireFrame));
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  const opened = new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  await waitFor(opened, () => `a connection to /ws${query}`);
  onTestFinished(() => socket.terminate());
  return { frames, socket, closed, send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)) };
}

export interface SocketIoClient {
  readonly frames: Frames;
  readonly volatile: Frames;
  readonly socket: Socket;
  send(frame: unknown): void;
  /** Sends `content`, which must not have been sent before, and waits until the agent waits again. */
  ask(content: string): Promise<void>;
}

/** Resolves when connected; rejects with the server's refusal. */
export async function socketIoClient(
  server: RunningServer,
  query: Readonly<Record<string, string | number>>,
  options: Partial<ManagerOptions & SocketOptions> = {},
): Promise<SocketIoClient> {
  const socket = io(server.url, { forceNew: true, reconnection: false, transports: ['websocket'], query, ...options });
  const frames = new Frames();
  const volatile = new Frames();
  socket.on('oh_event', (frame: WireFrame) => frames.take(frame));
  socket.on('tendon_volatile', (frame: WireFrame) => volatile.take(frame));
  onTestFinished(() => void socket.close());
  const ended: string[] = [];
  socket.on('disconnect', (reason) => ended.push(reason));
  socket.io.on('close', (reason) => ended.push(reason));
  const connected = new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('connect_error', reject));
  await waitFor(connected, () => `a connection of Socket.IO (${ended.join(', ') || 'it did not end'})`);
  const send = (frame: unknown) => void socket.emit('oh_user_action', frame);
  return {
    frames,
    volatile,
    socket,
    send,
    async ask(content) {
      send({ action: 'message', args: { content } });
      const { id } = await frames.until((frame) => frame.source === 'user' && frame.message === content, `"${content}" in the log`);
      const waitsAgain = (frame: WireFrame): boolean =>
        frame.extras?.agent_state === 'awaiting_user_input' && Number(frame.id) > Number(id);
      await frames.until(waitsAgain, `the end of the turn that event ${String(id)} began`);
    },
  };
}

/** The system's clock with other waits. */
export function systemClockThat(waits: (ms: number) => number): Clock {
  return { now: () => new Date(), sleep: (ms, options) => systemClock.sleep(waits(ms), options) };
}
