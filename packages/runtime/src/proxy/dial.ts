import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { refusal } from './egress-policy.ts';

/** The sandbox may not go there. The message says why and can be shown. */
export class Refused extends Error {
  override name = 'Refused';
}

const RESOLVE_DEADLINE_MS = 10_000;
const CONNECT_DEADLINE_MS = 15_000;
const MAX_ADDRESSES = 4;

/** Resolves the name here on the host, checks what came out and dials just that. Rejects with `Refused`, or with why it failed. */
export async function dial(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return openFirst(await checkedAddresses(host, port, signal), port, signal);
}

/** The first addresses of the name that may be dialled. Rejects with `Refused` where there are none, else with why it is not resolved. */
export async function checkedAddresses(host: string, port: number, signal: AbortSignal): Promise<readonly { readonly address: string }[]> {
  const addresses = await addressesOf(host, signal);
  const ownAddresses = hostAddresses();
  const verdicts = addresses.map(({ address }) => ({ address, reason: refusal({ address, port, ownAddresses }) }));
  const allowed = verdicts.filter(({ reason }) => reason === undefined).slice(0, MAX_ADDRESSES);
  if (allowed.length === 0) throw new Refused(verdicts[0]?.reason ?? 'the name has no address');
  return allowed;
}

/** Without looking at the address: for a place that the operator opened by name. */
export async function dialAnywhere(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return openFirst((await addressesOf(host, signal)).slice(0, MAX_ADDRESSES), port, signal);
}

function addressesOf(host: string, signal: AbortSignal): Promise<readonly { readonly address: string }[]> {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  return within(RESOLVE_DEADLINE_MS, signal, lookup(name, { all: true, order: 'verbatim' }));
}

async function openFirst(addresses: readonly { readonly address: string }[], port: number, signal: AbortSignal): Promise<Socket> {
  let failure: unknown = new Error('the name has no address');
  for (const { address } of addresses) {
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
