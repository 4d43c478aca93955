import { mkdirSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { joinStreams, refuseUpgrade } from '@tendon/protocol/node';

/**
 * The egress of a sandbox that reaches nothing by itself: the host connects to it, `GET /egress` with `Upgrade: tcp`, and such a connection waits
 * until something inside wants to leave. Owns the socket that what leaves comes to, and the connections that wait.
 *
 * 1. A connection of the host serves one connection of the inside, whole; it is taken or given back, never both: the executor decides.
 * 2. What leaves waits for the host a while, and is then answered in HTTP that nobody is there.
 * 3. Both sides are bounded: more than that of the host is refused, more of the inside is not accepted.
 */
export interface EgressEndpoint {
  join(request: IncomingMessage, client: Duplex, head: Buffer): void;
  close(): void;
}

const MAX_PARKED = 64;
const MAX_LEAVING = 256;
/** Of the host; below what a proxy between the two allows a connection to be silent. */
const PARKED_MS = 25_000;
/** Of the inside: as long as a server needs that takes over from another. */
const LEAVING_MS = 15_000;
const BEGUN = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n';
const ASK_AGAIN = 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n';
const NOBODY = "Tendon's sandbox reaches nothing just now: no server of Tendon holds it.\n";

export function createEgressEndpoint(socketPath: string): EgressEndpoint {
  const parked = new Set<Duplex>();
  const leaving = new Set<Socket>();
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    const [host] = parked;
    if (host === undefined) return wait(socket);
    parked.delete(host);
    begin(host, socket);
  });
  server.maxConnections = MAX_LEAVING;
  listen(server, socketPath);

  function wait(socket: Socket): void {
    leaving.add(socket);
    const timer = setTimeout(() => {
      leaving.delete(socket);
      socket.end(
        `HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain\r\nContent-Length: ${NOBODY.length}\r\nConnection: close\r\n\r\n${NOBODY}`,
      );
    }, LEAVING_MS);
    socket.once('close', () => leaving.delete(socket) && clearTimeout(timer));
    socket.once('leaves', () => clearTimeout(timer));
  }

  function park(client: Duplex): void {
    parked.add(client);
    const timer = setTimeout(() => {
      if (parked.delete(client)) client.end(ASK_AGAIN);
    }, PARKED_MS);
    client.once('close', () => {
      clearTimeout(timer);
      parked.delete(client);
    });
    client.once('end', () => parked.delete(client) && client.destroy());
    client.resume(); // or its end would not be noticed; it has nothing to say until it is answered
  }

  return {
    join(request, client, head) {
      client.on('error', () => client.destroy());
      if (request.headers.upgrade !== 'tcp' || head.length > 0) return refuseUpgrade(client, 404, { error: 'no such route' });
      const [socket] = leaving;
      if (socket !== undefined) {
        leaving.delete(socket);
        socket.emit('leaves');
        return begin(client, socket);
      }
      if (parked.size >= MAX_PARKED) return refuseUpgrade(client, 503, { error: 'there are enough of them' });
      park(client);
    },
    close() {
      server.close();
      for (const each of [...parked, ...leaving]) each.destroy();
    },
  };
}

function begin(host: Duplex, socket: Socket): void {
  host.pause();
  host.write(BEGUN);
  joinStreams(host, socket);
}

function listen(server: Server, socketPath: string): void {
  mkdirSync(dirname(socketPath), { recursive: true, mode: 0o700 });
  rmSync(socketPath, { force: true });
  server.on('error', (error) => process.stderr.write(`the egress of the sandbox cannot be offered: ${error.message}\n`));
  server.listen(socketPath);
}
