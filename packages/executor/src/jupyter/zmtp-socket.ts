import { connect, type Socket } from 'node:net';
import { createFrameReader, encodeMessage, encodeReady, greeting } from './zmtp-frames.ts';

/**
 * One connection to a ZeroMQ socket that another process has bound on a unix socket. In plain JavaScript, because the other end
 * belongs to the agent: what it sends must not be able to harm more than a buffer.
 */
export interface ZmtpSocket {
  send(frames: readonly Buffer[]): void;
  close(): void;
}

export interface ZmtpOptions {
  readonly path: string;
  readonly type: 'DEALER' | 'SUB';
  readonly identity: string;
  readonly onMessage: (frames: readonly Buffer[]) => void;
  /** The connection is over, also one that was closed by us. */
  readonly onClose: () => void;
}

const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** Resolves after the handshake; rejects when nobody listens at `path` or the other end speaks something else. */
export function connectZmtp(options: ZmtpOptions): Promise<ZmtpSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect(options.path);
    socket.on('error', reject);
    socket.on('close', () => {
      reject(new Error(`${options.path} was closed`)); // nothing, once resolved
      options.onClose();
    });
    const reader = createFrameReader(MAX_FRAME_BYTES, {
      onGreeting: () => socket.write(encodeReady(options.type, options.identity)),
      onCommand: (body) => {
        if (isCommand(body, 'READY')) resolve(opened(socket, options.type));
        else if (isCommand(body, 'ERROR')) socket.destroy();
      },
      onMessage: options.onMessage,
    });
    socket.on('data', (bytes) => {
      try {
        reader.read(bytes);
      } catch (error) {
        socket.destroy(error instanceof Error ? error : undefined);
      }
    });
    socket.write(greeting());
  });
}

function opened(socket: Socket, type: ZmtpOptions['type']): ZmtpSocket {
  if (type === 'SUB') socket.write(encodeMessage([Buffer.from([1])])); // subscribes to everything
  return {
    send: (frames) => void socket.write(encodeMessage(frames)),
    close: () => void socket.destroy(),
  };
}

function isCommand(body: Buffer, name: string): boolean {
  return body[0] === name.length && body.toString('latin1', 1, 1 + name.length) === name;
}
