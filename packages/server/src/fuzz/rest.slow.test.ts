import { request as httpRequest } from 'node:http';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { allRoutes, type Route } from '../http/all-routes.test-support.ts';
import { arbitraryOf, type Schema } from './arbitrary-of-schema.test-support.ts';
import { fuzzTarget, type FuzzTarget } from './fuzz-target.test-support.ts';
import { hostileText, hostileValue, SEED } from './hostile-values.test-support.ts';

/** Requests to each route. */
const RUNS = 8;
const EVERY = 40;
/** Answers that say: not here, not now, not by whom was asked. Without a sandbox and the internet they are right. */
const HONEST = new Set([501, 502, 503, 504]);

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Schema }[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> };
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

interface Attack {
  readonly params: readonly string[];
  readonly query: readonly (readonly [string, unknown])[];
  readonly body: unknown;
}

/** What the documented schema suggests; a route that is not in the document gets chaos. */
function attackOn({ url, method }: Route, paths: Paths, victim: string): fc.Arbitrary<Attack> {
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

function addressOf(url: string, { params, query }: Attack): string {
  let next = 0;
  const path = url.replace(/:\w+|\*/g, () => encoded(params[next++ % params.length]!));
  const pairs = query.map(([name, value]) => `${encoded(name)}=${encoded(typeof value === 'string' ? value : JSON.stringify(value))}`);
  // Node refuses longer request lines before any route sees them.
  return `${path}?${pairs.join('&')}`.slice(0, 12_000).replace(/%.?$/, '');
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function send(target: FuzzTarget, method: string, address: string, body: unknown): Promise<{ status: number; text: string }> {
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

it('SV90: whatever a route is sent in path, query and body, it answers in words, below 500 or saying what is missing', async () => {
  const target = await fuzzTarget();
  const { paths } = (await (await target.get('/openapi.json')).json()) as { paths: Paths };
  const routes = (await allRoutes(target)).filter(({ method }) => method !== 'HEAD');
  let sent = 0;
  for (const route of routes) {
    // One of its own: some are deleted or stopped by what they are sent.
    const attack = attackOn(route, paths, await target.create());
    const property = fc.asyncProperty(attack, async (drawn) => {
      const address = addressOf(route.url, drawn);
      const { status, text } = await send(target, route.method, address, drawn.body);
      expect(status < 500 || HONEST.has(status), `${route.method} ${address} ${status} ${text}`).toBe(true);
      if (++sent % EVERY === 0) await target.expectUnharmed();
    });
    await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: true });
  }
  await target.expectUnharmed();
}, 300_000);
