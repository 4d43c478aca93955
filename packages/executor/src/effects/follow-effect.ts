import { setTimeout as delay } from 'node:timers/promises';
import type { ObservationDraft } from '@tendon/protocol';
import type { ExecuteLine } from '@tendon/protocol/executor-api';
import { characterStart } from '../text/utf8.ts';
import type { Spool } from './spool.ts';

/** An action that is being carried out, or was. */
export interface Effect {
  readonly spool: Spool;
  readonly cancel: AbortController;
  outcome: ObservationDraft | undefined;
  readonly ended: PromiseWithResolvers<void>;
  /** Counts what there was to read. */
  changes: number;
  /** Those who wait for more of it. */
  waiting: (() => void)[];
}

const READ_BYTES = 64 * 1024;
/** The first output goes out at once, what follows it soon is gathered: a program that writes without end would make a packet of each write. */
const GATHER_MS = 40;
const NEWEST_EVERY_MS = 250;
const MAX_FOLLOWED = 24 * 1024 * 1024;
/** Of bytes that are no text it makes one twice as fast as a Buffer does. */
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** Of an output that is longer, who follows it gets the newest from time to time. */
export async function* followEffect(effect: Effect, from: number, wholeBytes: number): AsyncGenerator<ExecuteLine> {
  let offset = from;
  let given = 0;
  for (;;) {
    const { changes } = effect;
    const isLast = effect.outcome !== undefined;
    if (given >= wholeBytes) offset = isLast || given < MAX_FOLLOWED ? newestFrom(effect.spool, offset) : effect.spool.bytes;
    const before = offset;
    for (let chunk = effect.spool.read(offset, READ_BYTES); chunk.length > 0; chunk = effect.spool.read(offset, READ_BYTES)) {
      yield { type: 'output', offset, text: DECODER.decode(chunk) };
      offset += chunk.length;
      given += chunk.length;
      if (given < wholeBytes) continue;
      if (!isLast) break;
      offset = newestFrom(effect.spool, offset);
    }
    if (isLast) return yield { type: 'outcome', observation: effect.outcome! };
    if (offset > before)
      await Promise.race([delay(given < wholeBytes ? GATHER_MS : NEWEST_EVERY_MS, undefined, { ref: false }), effect.ended.promise]);
    if (effect.changes === changes) await new Promise<void>((more) => void effect.waiting.push(more));
  }
}

/** Not before `from`, and where a character begins. */
function newestFrom(spool: Spool, from: number): number {
  const offset = spool.bytes - READ_BYTES;
  return offset <= from ? from : offset + characterStart(spool.read(offset, 4));
}
