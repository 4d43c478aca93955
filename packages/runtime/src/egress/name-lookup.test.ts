import { lookup } from 'node:dns/promises';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDial, AddressRefused } from './dial.ts';
import { dialThrough } from './dial-through.ts';
import { startResolver, type TestResolver } from '../testing/resolver.ts';
import { createHostsFile, createNameLookup, TooManyLookups, type NameLookup } from './name-lookup.ts';

/** A deadline, not a measurement: machines are busy. */
const WAIT = { timeout: 50_000 };

const never = new AbortController().signal;
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const resolver = async (known?: Readonly<Record<string, readonly string[]>>): Promise<TestResolver> => {
  const started = await startResolver(known);
  open.push(() => started.close());
  return started;
};

const slow = (count: number): readonly string[] => Array.from({ length: count }, (_, number) => `n${number}.slow.example`);
const outcome = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: Error) => error);

describe('SB340: lookups of one sandbox', () => {
  it('are eight at once: other sandboxes and the thread pool of the process go on', async () => {
    const { servers, asked } = await resolver({ 'good.example': ['8.8.8.8'] });
    const [closing, hostile, neighbour] = [new AbortController(), createNameLookup({ servers }), createNameLookup({ servers })];
    const flood = slow(250).map((name) => outcome(hostile(name, closing.signal)));
    await vi.waitFor(() => expect(new Set(asked).size).toBe(8), WAIT);
    expect(await Promise.race(flood)).toBeInstanceOf(TooManyLookups);
    expect(await neighbour('good.example', never)).toEqual(['8.8.8.8']);
    expect((await lookup('localhost')).address).toMatch(/^(127\.|::1)/);
    expect(await readFile('/proc/self/comm', 'utf8')).not.toBe('');
    expect(new Set(asked).size).toBe(9);
    closing.abort();
    const ends = await Promise.all(flood);
    expect(ends.every((end) => end instanceof Error)).toBe(true);
    expect(ends.filter((end) => end instanceof TooManyLookups)).toHaveLength(242);
    expect(await outcome(hostile('good.example', never))).toEqual(['8.8.8.8']); // the places are free again
  });

  it('are cached for seconds, shared by simultaneous callers, and never asked of what the hosts file says', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tendon-hosts-'));
    open.push(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'hosts'), '# a list\n9.9.9.9 Listed.example other # named\n2620:fe::9 listed.example\n');
    const { servers, asked } = await resolver({ 'good.example': ['8.8.8.8', '8.8.4.4'] });
    const lookUp = createNameLookup({ servers, hosts: createHostsFile(join(folder, 'hosts')) });
    const found = await Promise.all([lookUp('good.example', never), lookUp('GOOD.example.', never)]);
    for (const addresses of [...found, await lookUp('good.example', never)]) expect(addresses).toEqual(['8.8.8.8', '8.8.4.4']);
    expect(await lookUp('listed.EXAMPLE', never)).toEqual(['9.9.9.9', '2620:fe::9']);
    expect(await lookUp('a.localhost', never)).toEqual(['127.0.0.1', '::1']);
    expect(asked).toEqual(['good.example']);
    await writeFile(join(folder, 'hosts'), '1.1.1.1 later.example');
    expect(await lookUp('later.example', never)).toEqual(['1.1.1.1']);
  });

  it('say that a name has no address', async () => {
    const { servers } = await resolver({ 'empty.example': [] });
    await expect(createNameLookup({ servers })('empty.example', never)).rejects.toThrow('nobody knows the name (ENODATA)');
    await expect(createNameLookup({ servers })('x'.repeat(300), never)).rejects.toThrow('not a name');
  });
});

describe('SB20: what a resolver answers is judged', () => {
  const dialTo = (servers: readonly string[]) => (host: string) => createDial(createNameLookup({ servers }))(host, 8080, never);

  it.each([['10.0.0.1'], ['127.0.0.1'], ['169.254.169.254', '192.168.1.1'], ['100.64.0.1'], ['0.0.0.0']])('%s', async (...addresses) => {
    const { servers } = await resolver({ 'rebound.example': addresses });
    await expect(dialTo(servers)('rebound.example')).rejects.toThrow(AddressRefused);
  });

  it.each(['0x7f.1', '2130706433', '0', '127.1', '0177.0.0.1', 'a.0x7f000001', '1.'])('%s is no name and not asked for', async (host) => {
    const { servers, asked } = await resolver();
    await expect(dialTo(servers)(host)).rejects.toThrow(AddressRefused);
    expect(asked).toEqual([]);
  });

  it('SB28: behind a proxy of the host a flood of names lets none past the judgement', async () => {
    const { servers, asked } = await resolver({ 'near.example': ['10.0.0.1'] });
    const closing = new AbortController();
    const lookUp: NameLookup = createNameLookup({ servers });
    const flood = slow(72).map((name) => outcome(lookUp(name, closing.signal)));
    await vi.waitFor(() => expect(new Set(asked).size).toBe(8), WAIT);
    for (const resolves of [false, true]) {
      const dial = dialThrough({ url: new URL('http://127.0.0.1:1'), resolves }, lookUp);
      await expect(dial('near.example', 8080, never)).rejects.toThrow(TooManyLookups);
    }
    closing.abort();
    await Promise.all(flood);
  });
});
