import type { Readable, Writable } from 'node:stream';
import { reasonOf } from '../action-handler.ts';

export interface LspPeer {
  notified(method: string, params: unknown): void;
  /** What the server asks of its client. */
  answer(method: string, params: unknown): unknown;
  /** It wrote what is no message, or does not read: it is given up. */
  broken(): void;
}

interface Message {
  readonly id?: number | string | null;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown } | null;
}

const MAX_HEADER_BYTES = 4096;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** What it has not read yet. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;
const HEADER_END = '\r\n\r\n';

/** JSON-RPC as language servers speak it, over a program's input and output. Nothing that the server writes is believed. */
export class LspConnection {
  readonly #input: Writable;
  readonly #peer: LspPeer;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Of header and body of the message that is being read; unknown until its header is there. */
  #needed: number | undefined;
  #bodyAt = 0;
  #lastId = 0;
  #isClosed = false;

  constructor(input: Writable, output: Readable, peer: LspPeer) {
    this.#input = input;
    this.#peer = peer;
    input.on('error', () => this.close());
    output.on('error', () => this.close());
    output.on('data', (piece: Buffer) => this.#take(piece));
  }

  /** Rejects with the server's error, or when the connection is closed. */
  request(method: string, params: unknown): Promise<unknown> {
    const answered = Promise.withResolvers<unknown>();
    if (this.#isClosed) return Promise.reject(new Error('the connection is closed'));
    this.#asked.set((this.#lastId += 1), answered);
    this.#send({ id: this.#lastId, method, params });
    return answered.promise;
  }

  notify(method: string, params: unknown): void {
    this.#send({ method, params });
  }

  close(): void {
    this.#isClosed = true;
    this.#pieces = [];
    for (const { reject } of this.#asked.values()) reject(new Error('the connection is closed'));
    this.#asked.clear();
  }

  #send(message: object): void {
    if (this.#isClosed) return;
    if (this.#input.writableLength > MAX_UNREAD_BYTES) return this.#giveUp();
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    this.#input.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}${HEADER_END}`), body]));
  }

  #take(piece: Buffer): void {
    if (this.#isClosed) return;
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    try {
      while (!this.#isClosed && this.#bytes >= (this.#needed ?? 0)) if (!this.#step()) return;
    } catch {
      this.#giveUp();
    }
  }

  #giveUp(): void {
    this.close();
    this.#peer.broken();
  }

  /** The next header or the next body; false where more must come first. Throws at what is neither. */
  #step(): boolean {
    const all = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#pieces = [all];
    if (this.#needed === undefined) {
      const end = all.subarray(0, MAX_HEADER_BYTES).indexOf(HEADER_END);
      if (end < 0 && all.length < MAX_HEADER_BYTES) return false;
      const length = Number(/^content-length: *(\d+)/im.exec(all.toString('latin1', 0, Math.max(0, end)))?.[1]);
      if (!(length <= MAX_MESSAGE_BYTES)) throw new Error('that is no header');
      this.#bodyAt = end + HEADER_END.length;
      this.#needed = this.#bodyAt + length;
      return true;
    }
    const body = all.toString('utf8', this.#bodyAt, this.#needed);
    const rest = all.subarray(this.#needed);
    this.#pieces = [rest];
    this.#bytes = rest.length;
    this.#needed = undefined;
    this.#handle(JSON.parse(body) as Message);
    return true;
  }

  #handle({ id, method, params, result, error }: Message): void {
    if (typeof method === 'string' && id !== undefined) return this.#send({ id, result: this.#peer.answer(method, params) ?? null });
    if (typeof method === 'string') return this.#peer.notified(method, params);
    const asked = typeof id === 'number' ? this.#asked.get(id) : undefined;
    if (!asked) return;
    this.#asked.delete(id as number);
    if (error) asked.reject(new Error(reasonOf(error.message)));
    else asked.resolve(result);
  }
}
