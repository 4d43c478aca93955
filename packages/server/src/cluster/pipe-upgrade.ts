/**
 * Forwards an upgrade to another server, and then all bytes in both directions.
 *
 * PU1  Nothing is sent to the client before the other server agrees, so an upgrade that does not reach it can be sent to a third one.
 * PU2  When the other server is gone, a WebSocket is closed with 1012, and clients reconnect; in the middle of a frame the connection is
 *      cut instead.
 */
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ServerNode } from '@tendon/core';
import { closingFrame, FrameEnds, GOING_AWAY, SERVICE_RESTART } from './frame-ends.ts';
import type { Cut, OpenPipes } from './open-pipes.ts';
import { misdirectedTo, passedHeaders } from './passed-headers.ts';
import type { PeerHttp } from './peer-http.ts';
import type { PipeOutcome } from './pipe-request.ts';

export interface UpgradePipe {
  readonly request: IncomingMessage;
  readonly client: Duplex;
  /** Bytes that the client sent right after its request. */
  readonly head: Buffer;
  readonly server: ServerNode;
  /** Additional names and values. */
  readonly headers: readonly string[];
  readonly http: PeerHttp;
  readonly pipes: OpenPipes;
}

export function pipeUpgrade({ request, client, head, server, headers, http, pipes }: UpgradePipe): Promise<PipeOutcome> {
  const { promise, resolve } = Promise.withResolvers<PipeOutcome>();
  const { upgrade = '', 'content-length': length = '0' } = request.headers;
  if (length !== '0' || request.headers['transfer-encoding'] !== undefined) client.resume(); // an upgrade has no body
  const outgoing = http.request(server, {
    isAlone: true,
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: [...passedHeaders(request), ...headers, 'Connection', 'Upgrade', 'Upgrade', upgrade],
  });
  const ended = pipes.add(server, () => outgoing.destroy(new Error('the server is gone')));
  const settle = (outcome: PipeOutcome): void => {
    ended();
    client.off('close', leave);
    resolve(outcome);
  };
  const leave = (): void => {
    outgoing.destroy();
    settle({ state: 'answered' });
  };
  client.once('close', leave);
  outgoing.on('error', () => settle({ state: 'unreachable', isTaken: false }));
  outgoing.once('response', (answer) => {
    const owner = misdirectedTo(answer);
    if (owner === undefined) passRefusal(answer, client);
    else answer.resume();
    settle(owner === undefined ? { state: 'answered' } : { state: 'misdirected', owner });
  });
  outgoing.once('upgrade', (answer, target, first) => {
    client.write(headOf(answer), 'latin1');
    if (first.length > 0) target.unshift(first);
    if (head.length > 0) target.write(head);
    join(client, target, upgrade.toLowerCase() === 'websocket', (cut) => pipes.add(server, cut));
    settle({ state: 'answered' });
  });
  outgoing.end();
  return promise;
}

function headOf(answer: IncomingMessage): string {
  const passed = passedHeaders(answer);
  const lines = passed.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${passed[at + 1]}`] : []));
  const isSwitch = answer.statusCode === 101;
  const connection = isSwitch ? ['Connection: Upgrade', `Upgrade: ${answer.headers.upgrade ?? ''}`] : ['Connection: close'];
  const status = answer.statusCode ?? 502;
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`, ...connection, ...lines, '', ''].join('\r\n');
}

/** Passes on an ordinary answer in place of the upgrade. */
function passRefusal(answer: IncomingMessage, client: Duplex): void {
  client.write(headOf(answer), 'latin1');
  client.resume();
  answer.on('error', () => client.destroy());
  answer.pipe(client);
}

/** A client that neither reads nor hangs up is disconnected after this. */
const LINGER_MS = 2_000;

function join(client: Duplex, target: Duplex, isWebSocket: boolean, register: (cut: Cut) => () => void): void {
  const frames = isWebSocket ? new FrameEnds() : undefined;
  for (const stream of [client, target]) if ('setNoDelay' in stream) (stream as { setNoDelay(on: boolean): void }).setNoDelay(true);
  const end: Cut = (why) => {
    ended();
    target.destroy();
    if (client.destroyed || client.writableEnded) return;
    if (!frames || frames.isOver || !frames.isBetween) return void (frames?.isOver ? client.end() : client.destroy());
    client.end(why === 'gone' ? closingFrame(SERVICE_RESTART, 'connect again') : closingFrame(GOING_AWAY, 'the server is leaving'));
    client.resume(); // unread data would hold back the end
    setTimeout(() => client.destroy(), LINGER_MS).unref();
  };
  const ended = register(end);
  target.on('data', (chunk: Buffer) => frames?.pass(chunk));
  client.pipe(target);
  target.pipe(client, { end: false });
  target
    .on('error', () => end('gone'))
    .once('end', () => end('gone'))
    .once('close', () => end('gone'));
  client.on('error', () => client.destroy());
  client.once('close', () => {
    ended();
    // Deliver what the client sent before it disconnected.
    if (client.readableEnded) target.end();
    else target.destroy();
  });
}
