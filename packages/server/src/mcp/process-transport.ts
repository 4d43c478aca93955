import type { Duplex } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { abortable } from '@tendon/protocol/async';
import { readLines, TooMuch } from '@tendon/protocol/node';
import type { ProcessRequest } from '@tendon/runtime';
import type { Exchange } from './stateless-connection.ts';

const LIMITS = { maxLine: 8 * 1024 * 1024, maxTotal: Number.POSITIVE_INFINITY };

/** A program in the sandbox, spoken to in lines of JSON. It ends with `close`. */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** How it ended by itself, in words. */
  ended: string | undefined;
  readonly #closing = new AbortController();
  readonly #open: () => Promise<Duplex>;
  readonly #request: ProcessRequest;
  #connection: Duplex | undefined;
  #isStarted = false;
  #isClosed = false;

  constructor(open: () => Promise<Duplex>, request: ProcessRequest) {
    this.#open = open;
    this.#request = request;
  }

  /** Aborts when the program has ended, or was. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** Once: the library starts what was started to ask for its version. */
  async start(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const connection = await this.#open();
    // The caller may have given up meanwhile.
    if (this.#isClosed) return void connection.destroy();
    this.#connection = connection;
    connection.on('error', (error: Error) => this.onerror?.(error));
    connection.once('close', () => {
      this.#closing.abort();
      this.onclose?.();
    });
    connection.once('end', () => connection.destroy());
    void this.#readMessages(connection);
    connection.write(`${JSON.stringify(this.#request)}\n`);
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#connection?.writable) return reject(new Error(this.ended ?? 'the program has ended'));
      this.#connection.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.abort();
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

/** Requests without a handshake to a program that is started. What it says beside its answers goes to all that listen. */
export function processExchange(transport: ProcessTransport): Exchange {
  const waiting = new Map<string, { readonly settle: (answer: unknown) => void; readonly onNotification: (message: object) => void }>();
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
  transport.onmessage = (message) => {
    if ('method' in message) for (const { onNotification } of waiting.values()) onNotification(message);
    else if (typeof message.id === 'string') waiting.get(message.id)?.settle(message);
  };
  return async ({ id, method, params }, { signal, onNotification = () => undefined }) => {
    const answer = new Promise<unknown>((settle) => waiting.set(id, { settle, onNotification }));
    try {
      await transport.send({ jsonrpc: '2.0', id, method, params } as JSONRPCMessage);
      return await abortable(answer, AbortSignal.any([signal, transport.closed]));
    } catch (cause) {
      if (transport.closed.aborted) throw new Error(transport.ended ?? 'the program has ended', { cause });
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } } as const;
      await transport.send(cancelled).catch(() => undefined);
      throw cause;
    } finally {
      waiting.delete(id);
    }
  };
}
