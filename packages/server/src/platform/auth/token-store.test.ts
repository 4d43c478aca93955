import { createMemoryStorage } from '@tendon/core/storage';
import { describe, expect, it } from 'vitest';
import { TokenStore } from './token-store.ts';

/** A clock whose waits end when the time is set past them. */
function setClock() {
  let now = Date.parse('2026-01-01T00:00:00Z');
  let waits: { readonly until: number; readonly wake: () => void }[] = [];
  return {
    now: () => new Date(now),
    sleep: (ms: number, { signal }: { readonly signal: AbortSignal }) =>
      new Promise<void>((wake, reject) => {
        waits.push({ until: now + ms, wake });
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      }),
    pass(seconds: number) {
      now += seconds * 1000;
      const due = waits.filter(({ until }) => until <= now);
      waits = waits.filter(({ until }) => until > now);
      for (const { wake } of due) wake();
    },
  };
}

async function store(max = 10) {
  const clock = setClock();
  const { records } = createMemoryStorage({ clock });
  const options = { records, collection: 'keys', prefix: 'key', clock, max };
  return { clock, records, store: await TokenStore.open<string>(options), again: () => TokenStore.open<string>(options) };
}

describe('SV70: tokens', () => {
  it('open what they were made for, whole and nothing else, also for the next server', async () => {
    const { store: keys, again } = await store();
    const { token, held } = (await keys.issue('ada', undefined))!;
    expect(token).toMatch(/^key_[0-9a-f]{16}_[\w-]{43}$/);
    expect([keys.find(token)?.value, (await again()).find(token)?.value]).toEqual(['ada', 'ada']);
    const last = token.endsWith('A') ? 'E' : 'A';
    for (const wrong of ['', held.id, token.slice(0, -1), token.slice(0, -1) + last, `${token}x`, token.replace('key_', 'share_')])
      expect(keys.find(wrong)).toBeUndefined();
  });

  it('are not stored, but salted and hashed', async () => {
    const { store: keys, records } = await store();
    const { token } = (await keys.issue('ada', 60))!;
    const stored = JSON.stringify(await records.list('keys'));
    expect(stored).not.toContain(token.slice(-43));
    expect(JSON.parse(stored)).toMatchObject([{ value: { salt: expect.any(String) as string, hash: expect.any(String) as string } }]);
  });

  it('end with their time and when they are revoked, and a waiting caller is notified', async () => {
    const { store: keys, clock } = await store();
    const short = (await keys.issue('short', 60))!;
    const long = (await keys.issue('long', undefined))!;
    const never = new AbortController().signal;
    const ends = [keys.ended(short.held.id, never), keys.ended(long.held.id, never)];
    clock.pass(60);
    await ends[0];
    expect([keys.find(short.token), keys.find(long.token)?.value]).toEqual([undefined, 'long']);
    expect(await keys.revoke(long.held.id)).toBe(true);
    await ends[1];
    expect(keys.find(long.token)).toBeUndefined();
    expect(await keys.revoke(long.held.id)).toBe(false);
  });

  it('are no more than there may be, and those that are over make room', async () => {
    const { store: keys, clock } = await store(1);
    await keys.issue('first', 60);
    expect(await keys.issue('second', 60)).toBeUndefined();
    clock.pass(60);
    expect((await keys.issue('third', 60))?.held.value).toBe('third');
    expect(keys.list.map(({ value }) => value)).toEqual(['third']);
  });

  it('remember when they were used, to the minute', async () => {
    const { store: keys, clock } = await store();
    const { held } = (await keys.issue('ada', undefined))!;
    await keys.use(held.id);
    const first = keys.get(held.id)?.last_used_at;
    clock.pass(30);
    await keys.use(held.id);
    expect(keys.get(held.id)?.last_used_at).toBe(first);
    clock.pass(30);
    await keys.use(held.id);
    expect(keys.get(held.id)?.last_used_at).not.toBe(first);
  });
});
