import { Refused } from './dial.ts';
import type { Dial } from './listen-proxy.ts';
import { isAskable, isOpenedPrivately, nameRefusal, plainName, type NetworkPolicy } from './network-policy.ts';
import type { RefusedHosts } from './refused-hosts.ts';

export interface PolicedDialOptions {
  /** Asked for each connection: a change counts from the next one on. */
  readonly policy: () => Promise<NetworkPolicy>;
  /** Judges the address that it dials. */
  readonly dial: Dial;
  /** For places that the operator opened; does not look at the address. */
  readonly dialAnywhere: Dial;
  /** Asks a person for a name that only the conversation's list lacks; see `AskPerson`. Default: nobody is asked. */
  readonly ask?: ((name: string, port: number) => Promise<string | undefined>) | undefined;
  readonly refused: RefusedHosts;
  /** Once for each place, as long as it is remembered. */
  readonly onRefused: (place: string, reason: string) => void;
}

/** Dials what the conversation's policy lets through, and remembers what it does not. */
export function policedDial({ policy, dial, dialAnywhere, ask, refused, onRefused }: PolicedDialOptions): Dial {
  return async (host, port, signal) => {
    try {
      let current = await policy();
      if (ask && !isOpenedPrivately(current, host, port) && isAskable(current, host, port)) {
        const refusal = await ask(plainName(host), port);
        if (refusal !== undefined) throw new Refused(refusal);
        current = await policy(); // an answer has changed it
      }
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
