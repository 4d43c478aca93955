import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { App } from './app.ts';
import { createRateLimit, limitRate } from './rate-limit.ts';

describe('SV36: the rate of an address', () => {
  it('is a burst, then so many a second, each address for itself', () => {
    const ask = createRateLimit({ burst: 3, perSecond: 2 });
    const now = 1_000;
    expect([1, 2, 3, 4].map(() => ask('10.0.0.1', now))).toEqual([undefined, undefined, undefined, 1]);
    expect(ask('10.0.0.2', now)).toBeUndefined();
    expect([ask('10.0.0.1', now + 500), ask('10.0.0.1', now + 500)]).toEqual([undefined, 1]);
    expect(ask('10.0.0.1', now - 10_000)).toBe(1);
  });

  it('is one for each key behind a proxy', () => {
    const ask = createRateLimit({ burst: 1, perSecond: 1 });
    const asked = ['key a', 'key b', 'key a', undefined].map((holder) => ask('10.0.0.1', 0, holder));
    expect(asked).toEqual([undefined, undefined, 1, undefined]);
  });

  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', ''])('%j is this machine and never limited', (address) => {
    const ask = createRateLimit({ burst: 1, perSecond: 1 });
    expect([1, 2, 3].map(() => ask(address, 0))).toEqual([undefined, undefined, undefined]);
  });

  it('is forgotten for those longest unused', () => {
    const ask = createRateLimit({ burst: 1, perSecond: 0.001 });
    ask('first', 0);
    expect(ask('first', 0)).toBe(1_000);
    for (let index = 0; index <= 10_000; index++) ask(`10.${index}`, 0);
    expect(ask('first', 0)).toBeUndefined();
  });

  it('is reported with the time to wait, but not where a route is public', async () => {
    const app = fastify();
    limitRate(app as unknown as App, () => 0, { burst: 1, perSecond: 0.5 });
    app.get('/asked', () => 'x');
    app.get('/alive', () => 'x');
    const get = (url: string) => app.inject({ url, remoteAddress: '10.0.0.1' });
    expect((await get('/asked')).statusCode).toBe(200);
    const refused = await get('/asked');
    expect([refused.statusCode, refused.headers['retry-after'], refused.json()]).toMatchObject([
      429,
      '2',
      { message: 'Too many requests' },
    ]);
    expect((await get('/alive')).statusCode).toBe(200);
  });
});
