import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { FENCED_STATUS, OWNER_EPOCH_HEADER } from '@tendon/protocol/executor-api';
import { reasonOf } from '../action-handler.ts';

export interface EpochRefusal {
  readonly status: 400 | typeof FENCED_STATUS;
  readonly error: string;
}

const MAX_DIGITS = 16;

/**
 * Refuses what a server wants changed that was the owner of the conversation before another one. Owns the file `owner-epoch` of the state
 * folder, beside the journal, and decides nothing about who the owner is.
 *
 * 1. The greatest epoch that was seen, in whatever request, is stored before that request is served; it only grows, also from one
 *    incarnation to the next.
 * 2. A request without an epoch comes from a server that shares its conversations with no other: it is not compared.
 */
export class OwnerEpoch {
  readonly #path: string;
  #greatest: number;

  constructor(stateDir: string) {
    this.#path = join(stateDir, 'owner-epoch');
    this.#greatest = stored(this.#path);
  }

  /** Why the request is refused, if it is. */
  refusal(headers: IncomingHttpHeaders, isChange: boolean): EpochRefusal | undefined {
    const given = headers[OWNER_EPOCH_HEADER];
    if (given === undefined) return undefined;
    const epoch = epochIn(String(given));
    if (epoch === 0) return { status: 400, error: `${OWNER_EPOCH_HEADER} must be a positive integer` };
    if (epoch > this.#greatest) this.#raise(epoch);
    if (epoch === this.#greatest || !isChange) return undefined;
    const error = `another server has taken the conversation over (its epoch is ${this.#greatest}, not ${epoch}): nothing was changed`;
    return { status: FENCED_STATUS, error };
  }

  #raise(epoch: number): void {
    this.#greatest = epoch;
    try {
      writeFileSync(`${this.#path}.new`, String(epoch), { mode: 0o600 });
      renameSync(`${this.#path}.new`, this.#path);
    } catch (error) {
      process.stderr.write(`owner-epoch: ${reasonOf(error)}\n`); // a full disk: it holds for this incarnation
    }
  }
}

/** 0 where none was stored, or nothing that can be read. */
function stored(path: string): number {
  try {
    return epochIn(readFileSync(path, 'utf8'));
  } catch {
    return 0;
  }
}

/** 0 for what is none. */
function epochIn(text: string): number {
  const epoch = /^[1-9]\d*$/.test(text) && text.length <= MAX_DIGITS ? Number(text) : 0;
  return Number.isSafeInteger(epoch) ? epoch : 0;
}
