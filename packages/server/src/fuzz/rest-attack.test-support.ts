/** Requests to any route, as far from what it expects as its own description suggests. */
import { request as httpRequest } from 'node:http';
import * as fc from 'fast-check';
import type { Route } from '../app/all-routes.test-support.ts';
import { arbitraryOf, type Schema } from './arbitrary-of-schema.test-support.ts';
import { hostileText, hostileValue } from './hostile-values.test-support.ts';

/** Answers that say: not here, not now, not by whom was asked. Without a sandbox and the internet they are right. */
export const HONEST: ReadonlySet<number> = new Set([501, 502, 503, 504]);

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Schema }[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> };
}
export type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

export interface Attack {
  readonly params: readonly string[];
  readonly query: readonly (readonly [string, unknown])[];
  readonly body: unknown;
}

/** What the documented schema suggests; a route that is not in the document gets chaos. */
export function attackOn({ url, method }: Route, paths: Paths, victim: string): fc.Arbitrary<Attack> {
  const operation = paths[url.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
  const schema = operation?.requestBody?.content?.['application/json']?.schema;
  const named = operation?.parameters?.filter((parameter) => parameter.in === 'query') ?? [];
  const known = named.map(({ name, schema: part }) => fc.tuple(fc.constant(name), arbitraryOf(part ?? {})));
  const pair = fc.oneof(...known, fc.tuple(hostileText, hostileValue));
  return fc.record({
    params: fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(victim) }, hostileText), { minLength: 3, maxLength: 3 }),
    query: fc.array(pair, { maxLength: 4 }),
    body: schema ? arbitraryOf(schema) : fc.oneof(fc.constant(undefined), hostileValue),
  });
}

export function addressOf(url: string, { params, query }: Attack): string {
  let next = 0;
  const path = url.replace(/:\w+|\*/g, () => encoded(params[next++ % params.length]!));
  const pairs = query.map(([name, value]) => `${encoded(name)}=${encoded(typeof value === 'string' ? value : JSON.stringify(value))}`);
  // Node refuses longer request lines before any route sees them.
  return `${path}?${pairs.join('&')}`.slice(0, 12_000).replace(/%.?$/, '');
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

export function send(
  target: { readonly url: string },
  method: string,
  address: string,
  body: unknown,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), connection: 'close' };
    const sent = httpRequest(target.url + address, { method, headers, agent: false }, async (response) => {
      let answer = '';
      for await (const chunk of response) answer = (answer + String(chunk)).slice(0, 2_000);
      resolve({ status: response.statusCode!, text: answer });
    });
    sent.on('error', reject).end(text);
  });
}
