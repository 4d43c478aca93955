import { createDial, createDialAnywhere, type Dial } from './dial.ts';
import { dialThrough, type UpstreamProxy } from './dial-through.ts';
import { DEFAULT_NETWORK, isOpenedPrivately } from './network-policy.ts';

export interface PublicDialOptions {
  readonly upstreamProxy?: UpstreamProxy | undefined;
  /** `host:port` that the operator opened although the address is private. */
  readonly allowPrivate: readonly string[];
}

/** For what this host asks in its own name at an address that a client gave: it reaches what a sandbox with the whole internet would. */
export function createPublicDial({ upstreamProxy, allowPrivate }: PublicDialOptions): Dial {
  const dial = upstreamProxy ? dialThrough(upstreamProxy) : createDial();
  const dialAnywhere = createDialAnywhere();
  const isOpened = (host: string, port: number): boolean => isOpenedPrivately({ ...DEFAULT_NETWORK, allowPrivate }, host, port);
  return (host, port, signal) => (isOpened(host, port) ? dialAnywhere : dial)(host, port, signal);
}
