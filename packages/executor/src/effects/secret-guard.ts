import { StringDecoder } from 'node:string_decoder';
import { createMask, MIN_SECRET_LENGTH, Secret } from '@tendon/protocol/masking';
import type { ObservationDraft } from '@tendon/protocol';

/**
 * What this executor was given to put into commands, so that none of it reaches a spool or the journal. Owns the values, in memory
 * only; they stay as long as the executor lives, since what was given to one command may be printed by a later one.
 */
export interface SecretGuard {
  learn(secrets: Readonly<Record<string, string>> | undefined): void;
  /** Hides what is known now in output that comes in pieces; where nothing is known it stays as it is, byte for byte. */
  stream(): GuardedStream;
  observation(observation: ObservationDraft): ObservationDraft;
}

export interface GuardedStream {
  push(piece: string | Buffer): string | Buffer;
  /** What was held back, as it might have become a secret. */
  flush(): string;
}

export function createSecretGuard(): SecretGuard {
  const known = new Set<string>();
  let mask = createMask([]);
  return {
    learn(secrets) {
      const fresh = Object.values(secrets ?? {}).filter((value) => value.length >= MIN_SECRET_LENGTH && !known.has(value));
      if (fresh.length === 0) return;
      for (const value of fresh) known.add(value);
      mask = createMask([...known].map((value) => new Secret(value)));
    },
    stream() {
      if (known.size === 0) return { push: (piece) => piece, flush: () => '' };
      const decoder = new StringDecoder('utf8');
      const masked = mask.stream();
      return {
        push: (piece) => masked.push(typeof piece === 'string' ? piece : decoder.write(piece)),
        flush: () => masked.push(decoder.end()) + masked.flush(),
      };
    },
    observation(observation) {
      if (known.size === 0) return observation;
      const { source: _source, ...masked } = mask.draft({ source: 'environment', ...observation });
      return masked as ObservationDraft;
    },
  };
}
