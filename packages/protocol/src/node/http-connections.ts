import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** A client that stops in the middle of its request, or does not read the answer, for so long is hung up on; what it asked for goes on. */
export function letGoOfStill(request: IncomingMessage, response: ServerResponse, stillMs: number): void {
  response.setTimeout(stillMs, () => {
    if (!request.complete || response.writableNeedDrain) request.destroy();
    else response.setTimeout(stillMs); // it waits for us
  });
}

/** Who neither reads nor hangs up is let go after so long. */
const LINGER_MS = 2000;

/** Refuses an upgrade as a route would, with `body` as JSON, and ends the connection. */
export function refuseUpgrade(client: Duplex, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
  const text = JSON.stringify(body);
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\nConnection: close\r\nContent-Type: application/json\r\n${more.join('')}`;
  client.on('error', () => client.destroy());
  client.resume(); // what was sent on unasked would keep the end from coming
  const letGo = setTimeout(() => client.destroy(), LINGER_MS).unref();
  client.once('close', () => clearTimeout(letGo));
  client.end(`${head}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}
