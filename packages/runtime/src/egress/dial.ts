import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { refusal } from './egress-policy.ts';
import { createNameLookup, type NameLookup } from './name-lookup.ts';
import { once } from 'node:events';

/** How a target is reached; refuses with `AddressRefused`. */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Socket>;

/** The sandbox may not go there. The message says why and can be shown. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
}

const SYSTEM_LOOKUP_DEADLINE_MS = 10_000;
const CONNECT_DEADLINE_MS = 15_000;
const MAX_ADDRESSES = 4;
/** `0x7f.1`, `2130706433`: no name ends so, and programs differ in which address they take it for. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[\da-f]*)\.?$/i;

/** Resolves the name here on the host, checks what came out and dials just that. Rejects with `AddressRefused`, or with why it failed. */
export function createDial(lookUp: NameLookup = createNameLookup()): Dial {
  return async (host, port, signal) => openFirst(await checkedAddresses(host, port, signal, lookUp), port, signal);
}

/** The first addresses of the name that may be dialled. Rejects with `AddressRefused` where there are none, else with why it is not resolved. */
export async function checkedAddresses(host: string, port: number, signal: AbortSignal, lookUp: NameLookup): Promise<readonly string[]> {
  const addresses = await addressesOf(host, signal, lookUp);
  const ownAddresses = hostAddresses();
  const verdicts = addresses.map((address) => ({ address, reason: refusal({ address, port, ownAddresses }) }));
  const allowed = verdicts.filter(({ reason }) => reason === undefined).slice(0, MAX_ADDRESSES);
  if (allowed.length === 0) throw new AddressRefused(verdicts[0]?.reason ?? 'the name has no address');
  return allowed.map(({ address }) => address);
}

/**
 * Without looking at the address: for a place that the operator opened by name. It is resolved as the system does it, with search
 * lists and what else is set up there, in a thread of the process: one for each name, however many ask.
 */
export function createDialAnywhere(): Dial {
  const underWay = new Map<string, Promise<readonly string[]>>();
  const lookUp: NameLookup = (name, signal) => {
    const asked =
      underWay.get(name) ??
      lookup(name, { all: true, order: 'verbatim' })
        .then((found) => found.map(({ address }) => address))
        .finally(() => underWay.delete(name));
    underWay.set(name, asked);
    return within(SYSTEM_LOOKUP_DEADLINE_MS, signal, asked);
  };
  return async (host, port, signal) => {
    const addresses = await lookUp(bare(host), signal);
    return openFirst(addresses.slice(0, MAX_ADDRESSES), port, signal);
  };
}

/** What is an address in the usual spelling is not asked for; another spelling of one is refused. */
async function addressesOf(host: string, signal: AbortSignal, lookUp: NameLookup): Promise<readonly string[]> {
  const name = bare(host);
  if (isIP(name) !== 0) return [name];
  if (ENDS_IN_NUMBER.test(name)) throw new AddressRefused('an IPv4 address is written as four decimal numbers');
  return lookUp(name, signal);
}

/** Of an IPv6 address in brackets. */
function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

async function openFirst(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  let failure: unknown = new Error('the name has no address');
  for (const address of addresses) {
    try {
      return await open(address, port, signal);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function hostAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

function open(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_DEADLINE_MS)]);
    const socket = connect({ host: address, port, noDelay: true, signal: deadline });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

async function within<T>(ms: number, signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  const onAbort = (): void => reject(new Error('resolving the name took too long'));
  deadline.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, late]);
  } finally {
    deadline.removeEventListener('abort', onAbort);
  }
}

const TLS_DEADLINE_MS = 15_000;

/** A connection to speak HTTP on with the origin of `url`: over TLS, with its certificate checked, where it is `https`. */
export async function dialOrigin(url: URL, dial: Dial, signal: AbortSignal): Promise<Socket> {
  const isTls = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = await dial(url.hostname, Number(url.port || (isTls ? 443 : 80)), signal);
  if (!isTls) return socket;
  const { connect: connectTls } = await import('node:tls');
  const secure = connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }) });
  try {
    await once(secure, 'secureConnect', { signal: AbortSignal.any([signal, AbortSignal.timeout(TLS_DEADLINE_MS)]) });
    return secure;
  } catch (error) {
    secure.on('error', () => {}).destroy();
    throw error;
  }
}
