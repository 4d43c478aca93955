import { Resolver } from 'node:dns/promises';
import { KeyedSemaphore } from '@tendon/core';
import { readFile, stat } from 'node:fs/promises';

/** The addresses of a name, as the host's resolvers give them; rejects when there are none, or too late. */
export type NameLookup = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface NameLookupOptions {
  /** `address:port` of resolvers. Default: the host's. */
  readonly servers?: readonly string[];
  readonly hosts?: HostsFile;
}

/** One sandbox asks for more names than it may; nothing is known of this one. */
export class TooManyLookups extends Error {
  override name = 'TooManyLookups';
}

const AT_ONCE = 8;
const MAX_WAITING = 64;
const DEADLINE_MS = 10_000;
/** Of the first try; the second has twice as long. */
const TRY = { timeout: 2500, tries: 2 };
const KEPT_MS = 5000;
const MAX_CACHED = 256;
const MAX_NAME = 254;

interface CachedAnswer {
  readonly addresses: readonly string[];
  readonly until: number;
}

/**
 * The lookups of one sandbox: eight at once, some that wait, and answers cached for seconds. They never enter the thread pool of
 * the process, in which two lookups without an answer would stop those of the server and of all other sandboxes.
 */
export function createNameLookup({ servers, hosts = createHostsFile() }: NameLookupOptions = {}): NameLookup {
  const places = new KeyedSemaphore(AT_ONCE);
  const underWay = new Map<string, Promise<readonly string[]>>();
  const cache = new Map<string, CachedAnswer>();

  async function lookUp(name: string, signal: AbortSignal): Promise<readonly string[]> {
    if (places.waiting('') >= MAX_WAITING) throw new TooManyLookups('too many names are being resolved; try again');
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]);
    const release = await places.acquire('', deadline);
    if (release === undefined) throw new TooManyLookups('other names that are being resolved took too long');
    try {
      const listed = await hosts(name);
      const addresses = listed.length > 0 ? listed : await ask(name, servers, deadline);
      keep(name, { addresses, until: performance.now() + KEPT_MS });
      return addresses;
    } finally {
      release();
    }
  }

  function keep(name: string, answer: CachedAnswer): void {
    cache.delete(name);
    cache.set(name, answer);
    if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value!);
  }

  return (host, signal) => {
    const name = host.toLowerCase().replace(/\.$/, '');
    if (name === 'localhost' || name.endsWith('.localhost')) return Promise.resolve(['127.0.0.1', '::1']);
    if (name === '' || name.length > MAX_NAME) return Promise.reject(new Error('that is not a name'));
    const known = cache.get(name);
    if (known !== undefined && known.until > performance.now()) return Promise.resolve(known.addresses);
    const other = underWay.get(name);
    if (other !== undefined) return other;
    const asked = lookUp(name, signal).finally(() => underWay.delete(name));
    underWay.set(name, asked);
    return asked;
  };
}

/** Both kinds of addresses in turn, IPv4 first, so that a caller who dials only some of them tries both. The name is asked for as it is: no search list. */
async function ask(name: string, servers: readonly string[] | undefined, signal: AbortSignal): Promise<readonly string[]> {
  const resolver = new Resolver(TRY); // one each: only a whole resolver can be cancelled
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const asked = [resolver.resolve4(name), resolver.resolve6(name)];
    if (signal.aborted) cancel();
    const [four, six] = await Promise.allSettled(asked);
    const addresses = interleaved(four?.status === 'fulfilled' ? four.value : [], six?.status === 'fulfilled' ? six.value : []);
    if (addresses.length === 0) throw failure(four?.status === 'rejected' ? four.reason : undefined, signal.aborted);
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function interleaved(left: readonly string[], right: readonly string[]): readonly string[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => [left[index], right[index]])
    .flat()
    .filter((address) => address !== undefined);
}

function failure(cause: unknown, isLate: boolean): Error {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? 'no address';
  if (isLate || code === 'ETIMEOUT') return new Error('resolving the name took too long', { cause });
  return new Error(
    code === 'ENOTFOUND' || code === 'ENODATA' ? `nobody knows the name (${code})` : `the name cannot be resolved (${code})`,
    {
      cause,
    },
  );
}

/** What the host's own list of names (`/etc/hosts`) says of one, in lower case and without the last dot; nothing where it has none. */
export type HostsFile = (name: string) => Promise<readonly string[]>;

/** Read again only when it was changed: some lists that block advertising are megabytes. */
export function createHostsFile(path = '/etc/hosts'): HostsFile {
  let [version, names] = ['', new Map<string, readonly string[]>()];
  return async (name) => {
    try {
      const { mtimeMs, size } = await stat(path);
      if (version !== `${mtimeMs}:${size}`) [version, names] = [`${mtimeMs}:${size}`, parse(await readFile(path, 'utf8'))];
    } catch {
      return []; // there is none
    }
    return names.get(name) ?? [];
  };
}

function parse(text: string): Map<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    if (address === undefined) continue;
    for (const name of names) found.set(name, [...(found.get(name) ?? []), address]);
  }
  return found;
}
