import type { Duplex } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { readLines, TooMuch } from '@tendon/protocol/node';
import type { ProcessWish } from '@tendon/runtime';

const LIMITS = { maxLine: 8 * 1024 * 1024, maxTotal: Number.POSITIVE_INFINITY };

/** A program in the sandbox, spoken to in lines of JSON. It ends with `close`. */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** How it ended by itself, in words. */
  ended: string | undefined;
  readonly #open: () => Promise<Duplex>;
  readonly #wish: ProcessWish;
  #connection: Duplex | undefined;
  #isClosed = false;

  constructor(open: () => Promise<Duplex>, wish: ProcessWish) {
    this.#open = open;
    this.#wish = wish;
  }

  async start(): Promise<void> {
    const connection = await this.#open();
    // Whoever wanted it may have given up meanwhile.
    if (this.#isClosed) return void connection.destroy();
    this.#connection = connection;
    connection.on('error', (error: Error) => this.onerror?.(error));
    connection.once('close', () => this.onclose?.());
    connection.once('end', () => connection.destroy());
    void this.#readMessages(connection);
    connection.write(`${JSON.stringify(this.#wish)}\n`);
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#connection?.writable) return reject(new Error(this.ended ?? 'the program has ended'));
      this.#connection.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#connection?.destroy();
  }

  async #readMessages(connection: Duplex): Promise<void> {
    try {
      for await (const line of readLines(connection, LIMITS)) this.#read(line);
    } catch (error) {
      // What broke the connection is reported by it.
      if (error instanceof TooMuch) this.onerror?.(error);
    }
  }

  /** What is no message, e.g. what a careless server prints, is passed over. */
  #read(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    if (typeof message !== 'object' || message === null) return;
    if ('process_end' in message) this.ended = endWords(message.process_end);
    else if ('jsonrpc' in message) this.onmessage?.(message as JSONRPCMessage);
  }
}

function endWords(end: unknown): string {
  const { code, stderr } = (end ?? {}) as { readonly code?: unknown; readonly stderr?: unknown };
  const last = typeof stderr === 'string' && stderr !== '' ? `: ${stderr.slice(-300)}` : '';
  return typeof code === 'number' ? `the program ended with exit code ${code}${last}` : `the program did not run${last}`;
}
