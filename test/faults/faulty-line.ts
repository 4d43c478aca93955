import { connect as dial, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What happens to a connection from its beginning. `bad-gateway`: a proxy answers in place of the server. */
type Mode = 'through' | 'refuse' | 'silent' | 'bad-gateway';

/**
 * The line between clients and a server, which breaks in every way a line does. It knows frames of a WebSocket from a server, which are
 * not masked, and sends some twice where that is asked for.
 */
export class FaultyLine {
  readonly #port: number;
  #server: Server | undefined;
  readonly #open = new Map<Socket, (data: Buffer) => void>();
  mode: Mode = 'through';
  /** Bytes of the server that each later connection still gets; the rest never comes. */
  allowance = Infinity;
  /** What the server says comes in pieces of so many bytes. */
  pieceBytes = Infinity;
  isDoubling = false;

  /** `port`: where the server listens. */
  constructor(port: number) {
    this.#port = port;
  }

  /** At a port that was never used before; who is connected is cut off. */
  async open(): Promise<string> {
    this.close();
    const server = createServer((client) => this.#accept(client));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#open.keys()) socket.resetAndDestroy();
  }

  close(): void {
    this.cut();
    this.#server?.close();
  }

  /** To every client, as if it came from the server. */
  say(data: Buffer): void {
    for (const write of this.#open.values()) write(data);
  }

  #accept(client: Socket): void {
    client.on('error', () => undefined);
    if (this.mode === 'refuse') return void client.resetAndDestroy();
    this.#open.set(client, (data) => void client.write(data));
    client.once('close', () => this.#open.delete(client));
    if (this.mode === 'silent') return void client.resume();
    if (this.mode === 'bad-gateway')
      return void client.once('data', () => client.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'));
    this.#carry(client);
  }

  #carry(client: Socket): void {
    const server = dial(this.#port, '127.0.0.1');
    let left = this.allowance;
    let rest: Buffer = Buffer.alloc(0);
    let isUpgraded = false;
    server.on('error', () => undefined);
    client.pipe(server);
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
    const pass = (data: Buffer): void => {
      const allowed = data.subarray(0, left);
      left -= data.length;
      for (let at = 0; at < allowed.length; at += this.pieceBytes) client.write(allowed.subarray(at, at + Math.min(this.pieceBytes, 1e9)));
      if (left <= 0) server.pause();
    };
    client.setNoDelay(true);
    server.on('data', (data: Buffer) => {
      if (!isUpgraded) {
        isUpgraded = data.includes('101 Switching Protocols') && data.includes('\r\n\r\n');
        return pass(data);
      }
      rest = Buffer.concat([rest, data]);
      for (let size = frameBytes(rest); size <= rest.length; size = frameBytes(rest)) {
        const frame = rest.subarray(0, size);
        rest = rest.subarray(size);
        pass(this.isDoubling && isEvent(frame) ? Buffer.concat([frame, frame]) : frame);
      }
    });
  }
}

/** A text frame as a server sends it. */
export function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head =
    payload.length < 126 ? Buffer.from([0x81, payload.length]) : Buffer.from([0x81, 126, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([head, payload]);
}

function headBytes(data: Buffer): number {
  const short = (data[1] ?? 0) & 127;
  return short === 127 ? 10 : short === 126 ? 4 : 2;
}

/** Of the first frame, with its head; infinite until the head is there. */
function frameBytes(data: Buffer): number {
  const head = headBytes(data);
  if (data.length < head) return Infinity;
  const size = head === 10 ? Number(data.readBigUInt64BE(2)) : head === 4 ? data.readUInt16BE(2) : data[1]! & 127;
  return head + size;
}

/** Socket.IO begins an event with `42`. */
function isEvent(frame: Buffer): boolean {
  const head = headBytes(frame);
  return frame.subarray(head, head + 2).toString() === '42';
}
