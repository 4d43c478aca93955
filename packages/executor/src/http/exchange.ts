import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TooLong } from '../files/failures.ts';

/** One request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
}

export type Route = (exchange: Exchange) => Promise<void> | void;
/** By method and path; `:key` stands for the key of an effect. */
export type Routes = Readonly<Record<string, Route>>;

const MAX_SMALL_BODY = 64 * 1024;
/** So often an idle stream shows with an empty line that it is alive. */
const KEEP_ALIVE_MS = 15_000;

export function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export function empty(response: ServerResponse): void {
  response.writeHead(204).end();
}

/** Begins a stream of lines. The signal aborts when the client has gone. */
export function beginLines(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
  const timer = setInterval(() => response.writableNeedDrain || response.write('\n'), KEEP_ALIVE_MS);
  response.once('close', () => {
    clearInterval(timer);
    gone.abort();
  });
  return gone.signal;
}

/** Resolves when the client can take the next line, or has gone. */
export async function sendLine(response: ServerResponse, line: unknown, signal: AbortSignal): Promise<void> {
  // As bytes: of a text with other characters than those of ASCII they are made several times as fast here as by the stream.
  if (response.write(Buffer.from(`${JSON.stringify(line)}\n`))) return;
  await once(response, 'drain', { signal }).catch(() => {}); // the client left: the caller's loop checks the signal
}

/** What a body says, by name. Each throws, with the name, for a value of another kind; what is missing or null is `otherwise`. */
export interface JsonFields {
  readonly all: Readonly<Record<string, unknown>>;
  text(name: string, otherwise: string): string;
  number(name: string, otherwise: number): number;
  flag(name: string): boolean;
}

/** The body of a request as an object; none at all is an empty one. Throws for everything else. */
export async function jsonFields(request: IncomingMessage, maxBytes = MAX_SMALL_BODY): Promise<JsonFields> {
  const text = (await readBody(request, maxBytes)).toString('utf8');
  const all: unknown = text === '' ? {} : parse(text);
  if (typeof all !== 'object' || all === null || Array.isArray(all)) throw new Error('the body must be a JSON object');
  const fields = all as Record<string, unknown>;
  const valueOf = (name: string): unknown => (Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined);
  return {
    all: fields,
    text(name, otherwise) {
      const value = valueOf(name) ?? otherwise;
      if (typeof value !== 'string') throw new Error(`${name} must be a text`);
      return value;
    },
    number(name, otherwise) {
      const value = valueOf(name) ?? otherwise;
      if (typeof value !== 'number') throw new Error(`${name} must be a number`);
      return value;
    },
    flag(name) {
      const value = valueOf(name) ?? false;
      if (typeof value !== 'boolean') throw new Error(`${name} must be true or false`);
      return value;
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the body is not JSON');
  }
}

/** The whole body. Throws `TooLong` when it is longer than `maxBytes`. */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > maxBytes) throw new TooLong(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
