import { Refused } from './dial.ts';
import type { Dial } from './listen-proxy.ts';
import { isOpenedPrivately, nameRefusal, type NetworkPolicy } from './network-policy.ts';
import type { RefusedHosts } from './refused-hosts.ts';

export interface PolicedDialOptions {
  /** Asked for each connection: a change counts from the next one on. */
  readonly policy: () => Promise<NetworkPolicy>;
  /** Judges the address that it dials. */
  readonly dial: Dial;
  /** For places that the operator opened; does not look at the address. */
  readonly dialAnywhere: Dial;
  readonly refused: RefusedHosts;
  /** Once for each place, as long as it is remembered. */
  readonly onRefused: (place: string, reason: string) => void;
}

/** Dials what the conversation's policy lets through, and remembers what it does not. */
export function policedDial({ policy, dial, dialAnywhere, refused, onRefused }: PolicedDialOptions): Dial {
  return async (host, port, signal) => {
    try {
      const current = await policy();
      if (isOpenedPrivately(current, host, port)) return await dialAnywhere(host, port, signal);
      const reason = nameRefusal(current, host, port);
      if (reason !== undefined) throw new Refused(reason);
      return await dial(host, port, signal);
    } catch (error) {
      if (error instanceof Refused && refused.note(host, port, error.message)) onRefused(`${host.slice(0, 253)}:${port}`, error.message);
      throw error;
    }
  };
}
