import type { ChildProcess } from 'node:child_process';
import { createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Mutex } from '@tendon/protocol/async';
import { type BrowserRequest, type HostLine, howHostEnded } from '@tendon/protocol/executor-api';
import { readFirstLine } from '@tendon/protocol/node';
import { messageOf } from './start-phase.ts';
import { listenInside } from '../transport/listen-inside.ts';

/** A socket behind which browsers run beside a sandbox. */
export interface BrowserSidecar {
  /** Resolves when no browser of it runs any more. */
  close(): Promise<void>;
}

/** Rejects with an Error that says why there can be none. */
export type StartBrowser = (request: BrowserRequest) => Promise<ChildProcess>;

const MAX_REQUEST_BYTES = 16 * 1024;
const REQUEST_MS = 10_000;
/** A browser that was asked to end saves its cookies first; it has less time when the next one waits for it. */
const STOP_MS = 20_000;
const GRACE_MS = 5000;
const MAX_CONNECTIONS = 4;
const TAIL_CHARS = 1000;
/** The executor's own forwarder to the proxy, and nothing else that Chromium would take for a proxy. */
const PROXY_URL = /^http:\/\/127\.0\.0\.1:\d{1,5}$/;

/**
 * Starts a browser for each client, and joins the two. Owns the socket and the one browser that runs: the next connection
 * ends the one before. The client is hostile: of what comes only the first line is read here, and the rest passed on.
 */
export async function listenBrowser(socketPath: string, startBrowser: StartBrowser): Promise<BrowserSidecar> {
  const open = new Set<Socket>();
  const serving = new Mutex();
  let isClosed = false;

  async function serve(socket: Socket): Promise<void> {
    const request = await readRequest(socket);
    if (isClosed || request === undefined) return void socket.destroy();
    try {
      await join(socket, await startBrowser(request));
    } catch (error) {
      say(socket, { type: 'failed', reason: messageOf(error) });
      socket.end();
    }
  }

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {}); // `close` follows
    for (const earlier of open) void delay(GRACE_MS, undefined, { ref: false }).then(() => earlier.destroy());
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    void serving.run(() => serve(socket));
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listenInside(server, socketPath);
  return {
    async close() {
      isClosed = true;
      for (const socket of open) socket.destroy();
      server.close();
      await serving.run(() => {});
    },
  };
}

/** Passes lines on both ways until the browser has ended; without its connection it is killed. */
async function join(socket: Socket, child: ChildProcess): Promise<void> {
  let tail = '';
  const { stdin, stdout, stderr } = child;
  stderr?.setEncoding('utf8').on('data', (text: string) => (tail = (tail + text).slice(-TAIL_CHARS)));
  const kill = (): void => void child.kill('SIGKILL');
  let killTimer: NodeJS.Timeout | undefined;
  socket.once('close', kill);
  // An end may be the request that it ends, or that nobody is there any more: then writing fails, and the socket closes.
  socket.once('end', () => {
    killTimer = setTimeout(kill, STOP_MS);
    socket.write('\n');
  });
  if (socket.destroyed) kill();
  stdin?.on('error', () => {}); // it is gone; `close` follows
  socket.pipe(stdin!);
  stdout?.pipe(socket, { end: false });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('close', (...how) => resolve(how));
    child.once('error', (error) => {
      tail = error.message;
      resolve([null, null]);
    });
  });
  clearTimeout(killTimer);
  socket.off('close', kill);
  say(socket, { type: 'ended', how: howHostEnded(code, signal, tail) });
  socket.end(() => socket.destroy());
}

/** On a line of its own: what was cut off before it has none. */
function say(socket: Socket, line: HostLine): void {
  if (!socket.destroyed) socket.write(`\n${JSON.stringify(line)}\n`);
}

/** `undefined` = it came to nothing, in time or in size, or makes no sense. */
function readRequest(socket: Socket): Promise<BrowserRequest | undefined> {
  return readFirstLine(socket, { maxBytes: MAX_REQUEST_BYTES, timeoutMs: REQUEST_MS }).then(requestOf, () => undefined);
}

function requestOf(text: string): BrowserRequest | undefined {
  let value: Partial<Record<keyof BrowserRequest, unknown>> | null;
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    return undefined;
  }
  const { proxyUrl, startUrl } = value ?? {};
  // Without a proxy Chromium would ask nobody and reach nothing but loopback: there is no other route to a network.
  if (proxyUrl !== undefined && !(typeof proxyUrl === 'string' && PROXY_URL.test(proxyUrl))) return undefined;
  if (startUrl !== undefined && !(typeof startUrl === 'string' && /^https?:/.test(startUrl))) return undefined;
  return { ...(proxyUrl !== undefined && { proxyUrl }), ...(startUrl !== undefined && { startUrl }) };
}
