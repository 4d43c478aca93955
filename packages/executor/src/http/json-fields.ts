import type { IncomingMessage } from 'node:http';
import { TooLong } from '../files/failures.ts';

/** What a body says, by name. Each throws, with the name, for a value of another kind; what is missing or null is `otherwise`. */
export interface JsonFields {
  readonly all: Readonly<Record<string, unknown>>;
  text(name: string, otherwise: string): string;
  number(name: string, otherwise: number): number;
  flag(name: string): boolean;
}

/** The body of a request as an object; none at all is an empty one. Throws for everything else. */
export async function jsonFields(request: IncomingMessage, maxBytes: number): Promise<JsonFields> {
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
