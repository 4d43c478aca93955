/** The headers of a request or an answer that go on to the other side: names, values and order as they came. */
import type { IncomingMessage } from 'node:http';
import { HOP_HEADERS } from '@tendon/runtime';
import { HOP_HEADER } from './hop-signature.ts';

type RawHeaders = readonly string[];

/** Those that are not of one connection only; `Connection` can name more of these. */
export function passedHeaders({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): string[] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  const passed: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!HOP_HEADERS.has(name) && !named.has(name) && name !== HOP_HEADER) passed.push(rawHeaders[at]!, rawHeaders[at + 1]!);
  }
  return passed;
}

export function without(headers: RawHeaders, ...names: readonly string[]): string[] {
  return headers.filter((_text, at) => !names.includes(headers[at - (at % 2)]!.toLowerCase()));
}

/** The header by which a server says that it is not the one: whose it is, or `-`. */
export const OWNER_HEADER = 'x-tendon-owner';

/** Undefined: the answer is the client's. Else what the receiver knows: the id of the owner, or an empty text. */
export function misdirectedTo({ statusCode, headers }: IncomingMessage): string | undefined {
  const owner = headers[OWNER_HEADER];
  if (statusCode !== 421 || typeof owner !== 'string') return undefined;
  return owner === '-' ? '' : owner;
}
