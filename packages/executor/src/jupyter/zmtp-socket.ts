import { connect, type Socket } from 'node:net';

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

/** Frames of ZMTP 3.0 (https://rfc.zeromq.org/spec/23/): the bytes that ZeroMQ sockets exchange. */

const MORE = 1;
const LONG = 2;
const COMMAND = 4;
const GREETING_BYTES = 64;
const MAJOR_VERSION_AT = 10;
const MAX_FRAMES = 64;

export interface FrameReader {
  /** Takes bytes as they come; throws on what is not ZMTP 3. */
  read(bytes: Buffer): void;
}

export interface FrameListener {
  readonly onGreeting: () => void;
  readonly onCommand: (body: Buffer) => void;
  /** The frames of one message. A frame longer than the limit arrives empty: its bytes were dropped unread. */
  readonly onMessage: (frames: readonly Buffer[]) => void;
}

/** Version 3.0, security NULL, not a server. @internal */
export function greeting(): Buffer {
  const bytes = Buffer.alloc(GREETING_BYTES);
  bytes[0] = 0xff;
  bytes[9] = 0x7f;
  bytes[MAJOR_VERSION_AT] = 3;
  bytes.write('NULL', 12, 'latin1');
  return bytes;
}

/** @internal */
export function encodeReady(socketType: string, identity: string): Buffer {
  return encodeFrame(Buffer.concat([shortText('READY'), property('Socket-Type', socketType), property('Identity', identity)]), COMMAND);
}

/** @internal */
export function encodeMessage(frames: readonly Buffer[]): Buffer {
  return Buffer.concat(frames.map((frame, index) => encodeFrame(frame, index < frames.length - 1 ? MORE : 0)));
}

function encodeFrame(body: Buffer, flags: number): Buffer {
  if (body.length < 256) return Buffer.concat([Buffer.from([flags, body.length]), body]);
  const head = Buffer.alloc(9);
  head[0] = flags | LONG;
  head.writeBigUInt64BE(BigInt(body.length), 1);
  return Buffer.concat([head, body]);
}

function shortText(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')]);
}

function property(key: string, value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length);
  return Buffer.concat([shortText(key), length, Buffer.from(value, 'latin1')]);
}

/** Bounded: keeps at most one message, of `maxFrameBytes` a frame and `MAX_FRAMES` frames. @internal */
export function createFrameReader(maxFrameBytes: number, listener: FrameListener): FrameReader {
  let pending: Buffer[] = []; // what is there of a head or a body
  let have = 0;
  let wanted = GREETING_BYTES;
  let step: 'greeting' | 'flags' | 'length' | 'body' = 'greeting';
  let flags = 0;
  let message: Buffer[] = [];

  function next(nextStep: typeof step, bytes: number): void {
    step = nextStep;
    wanted = bytes;
  }

  function take(chunk: Buffer): void {
    if (step === 'greeting') {
      if (chunk[0] !== 0xff || (chunk[MAJOR_VERSION_AT] ?? 0) < 3) throw new Error('the other end does not speak ZMTP 3');
      listener.onGreeting();
      return next('flags', 1);
    }
    if (step === 'flags') {
      flags = chunk[0]!;
      return next('length', flags & LONG ? 8 : 1);
    }
    if (step === 'length') return next('body', flags & LONG ? Number(chunk.readBigUInt64BE()) : chunk[0]!);
    next('flags', 1);
    if (flags & COMMAND) return listener.onCommand(chunk);
    if (message.length < MAX_FRAMES) message.push(chunk);
    if (flags & MORE) return;
    const whole = message;
    message = [];
    listener.onMessage(whole);
  }

  return {
    read(bytes) {
      let at = 0;
      for (;;) {
        const part = bytes.subarray(at, at + wanted - have);
        at += part.length;
        have += part.length;
        if (part.length > 0 && (step !== 'body' || wanted <= maxFrameBytes)) pending.push(part);
        if (have < wanted) return;
        const chunk = pending.length === 1 ? pending[0]! : Buffer.concat(pending);
        pending = [];
        have = 0;
        take(chunk);
      }
    },
  };
}
