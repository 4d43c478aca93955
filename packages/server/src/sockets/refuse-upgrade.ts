import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { CatalogError } from '@tendon/protocol';
import { failureBody } from '../http/failure.ts';

/** Answers an upgrade like an ordinary request that failed, and hangs up. */
export function refuseUpgrade(socket: Duplex, error: CatalogError): void {
  const body = JSON.stringify(failureBody(error));
  socket.on('error', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
