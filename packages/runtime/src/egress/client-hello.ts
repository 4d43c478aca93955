/** What the first bytes of a TLS connection say about whom it is for. */
export type ClientHello =
  /** It is not whole yet. */
  | { readonly kind: 'more' }
  /** It is no TLS, or no hello that can be read in one way only. */
  | { readonly kind: 'other' }
  | {
      readonly kind: 'hello';
      /** As it was sent. */
      readonly serverName: string | undefined;
      /** Encrypted Client Hello: the name that counts is not to be seen. */
      readonly isEncrypted: boolean;
    };

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const ENCRYPTED_CLIENT_HELLO = 0xfe0d;
const HOST_NAME = 0;
const RECORD_HEAD = 5;
const MAX_RECORD = 16 * 1024;
const MAX_RECORDS = 16;

/** Reads the ClientHello at the beginning of `bytes`, in however many records it comes. Total: `bytes` are a stranger's. */
export function readClientHello(bytes: Buffer): ClientHello {
  const message = handshakeBytes(bytes);
  if (message === undefined) return { kind: 'other' };
  if (message.length > 0 && message[0] !== CLIENT_HELLO) return { kind: 'other' };
  if (!isWhole(message)) return { kind: 'more' };
  try {
    return readExtensions(extensionsOf(reading(message.subarray(4, 4 + message.readUIntBE(1, 3)))));
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'other' };
    throw error;
  }
}

/** The content of the first handshake records, as many as a hello may take; `undefined` where something else stands there. */
function handshakeBytes(bytes: Buffer): Buffer | undefined {
  let message = Buffer.alloc(0);
  let at = 0;
  for (let records = 0; at < bytes.length && !isWhole(message); records += 1) {
    if (records === MAX_RECORDS || bytes[at] !== HANDSHAKE || (bytes[at + 1] ?? 3) !== 3) return undefined;
    if (bytes.length < at + RECORD_HEAD) break;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > MAX_RECORD) return undefined;
    message = Buffer.concat([message, bytes.subarray(at + RECORD_HEAD, at + RECORD_HEAD + length)]);
    at += RECORD_HEAD + length;
  }
  return message;
}

function isWhole(message: Buffer): boolean {
  return message.length >= 4 && message.length >= 4 + message.readUIntBE(1, 3);
}

/** Takes pieces off the front; throws a RangeError where there is less. */
function reading(bytes: Buffer): {
  take(length: number): Buffer;
  number(size: number): number;
  block(size: number): Buffer;
  isDone(): boolean;
} {
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('the message ends too early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const number = (size: number): number => take(size).readUIntBE(0, size);
  return { take, number, block: (size) => take(number(size)), isDone: () => at === bytes.length };
}

function extensionsOf(hello: ReturnType<typeof reading>): Buffer {
  hello.take(2 + 32); // version, random
  hello.block(1); // session
  hello.block(2); // ciphers
  hello.block(1); // compression
  if (hello.isDone()) return Buffer.alloc(0);
  const extensions = hello.block(2);
  if (!hello.isDone()) throw new RangeError('there is more than the message says');
  return extensions;
}

function readExtensions(bytes: Buffer): ClientHello {
  const extensions = reading(bytes);
  const seen = new Map<number, Buffer>();
  while (!extensions.isDone()) {
    const type = extensions.number(2);
    if (seen.has(type)) return { kind: 'other' }; // which one counts is the server's choice
    seen.set(type, extensions.block(2));
  }
  const names = seen.get(SERVER_NAME);
  return { kind: 'hello', serverName: names && onlyName(names), isEncrypted: seen.has(ENCRYPTED_CLIENT_HELLO) };
}

function onlyName(bytes: Buffer): string {
  const outer = reading(bytes);
  const list = reading(outer.block(2));
  const type = list.number(1);
  const name = list.block(2).toString('latin1');
  if (type !== HOST_NAME || !list.isDone() || !outer.isDone()) throw new RangeError('not one name');
  return name;
}
