import * as fc from 'fast-check';
import { runs } from '@tendon/testing';
import { expect, it } from 'vitest';
import { askableRoutes } from '../app/all-routes.test-support.ts';
import { fuzzTarget } from './fuzz-target.test-support.ts';
import { SEED } from './hostile-values.test-support.ts';
import { addressOf, attackOn, HONEST, send, type Paths } from './rest-attack.test-support.ts';

/** Requests to each route. */
const RUNS = runs(8);
const EVERY = 40;

it('SV90: whatever a route is sent in path, query and body, it answers in words, below 500 or saying what is missing', async () => {
  const target = await fuzzTarget();
  const { paths } = (await (await target.get('/openapi.json')).json()) as { paths: Paths };
  const routes = (await askableRoutes(target)).filter(({ method }) => method !== 'HEAD');
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
