import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface RawConnection {
  readonly socket: Socket;
  /** What came so far. */
  readonly received: string;
  readonly isClosed: boolean;
  write(bytes: string | Uint8Array): void;
  /** Resolves with everything that came when the server hangs up. */
  readonly closed: Promise<string>;
}

/** A TCP connection without any protocol. */
export function rawConnection(url: string): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  let isClosed = false;
  socket.on('error', () => undefined).on('data', (data: Buffer) => (received = (received + data.toString('latin1')).slice(0, 1_000_000)));
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      resolve(received);
    });
  });
  onTestFinished(() => void socket.destroy());
  return {
    socket,
    closed,
    get received() {
      return received;
    },
    get isClosed() {
      return isClosed;
    },
    write: (bytes) => void socket.write(bytes),
  };
}

/** The request that makes a WebSocket of a connection. */
export function upgradeRequest(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${headers}\r\n`;
}
