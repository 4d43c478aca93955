/** The headers of a request or an answer that are forwarded, with their names, values and order unchanged. */
import type { IncomingMessage } from 'node:http';
import { HOP_HEADERS } from '@tendon/runtime';
import { HOP_HEADER } from './hop-signature.ts';

type RawHeaders = readonly string[];

/** What the signature covers, and what ends a body: without them the receiver would read another request than was checked here. */
const ALWAYS_PASSED: ReadonlySet<string> = new Set(['host', 'origin', 'content-length']);

/** All headers but hop-by-hop ones. Those that `Connection` names are hop-by-hop too, except `ALWAYS_PASSED`. */
export function passedHeaders({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): string[] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  const passed: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    const isOfHop = HOP_HEADERS.has(name) || (named.has(name) && !ALWAYS_PASSED.has(name));
    if (!isOfHop && name !== HOP_HEADER) passed.push(rawHeaders[at]!, rawHeaders[at + 1]!);
  }
  return passed;
}

export function without(headers: RawHeaders, ...names: readonly string[]): string[] {
  return headers.filter((_text, at) => !names.includes(headers[at - (at % 2)]!.toLowerCase()));
}

/** With a 421 answer: the id of the server that has the conversation, or `-` when no server has it. */
export const OWNER_HEADER = 'x-tendon-owner';

/** The id of the owner that the receiver named, or an empty text; `undefined` when the answer is for the client. */
export function misdirectedTo({ statusCode, headers }: IncomingMessage): string | undefined {
  const owner = headers[OWNER_HEADER];
  if (statusCode !== 421 || typeof owner !== 'string') return undefined;
  return owner === '-' ? '' : owner;
}
