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
  news: number;
  /** Those who wait for more of it. */
  waiting: (() => void)[];
}

const READ_BYTES = 64 * 1024;
const NEWEST_EVERY_MS = 250;
const MAX_FOLLOWED = 24 * 1024 * 1024;
/** Of bytes that are no text it makes one twice as fast as a Buffer does. */
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** Of an output that is longer, who follows it gets the newest from time to time. */
export async function* followEffect(effect: Effect, from: number, wholeBytes: number): AsyncGenerator<ExecuteLine> {
  let offset = from;
  let given = 0;
  for (;;) {
    const { news } = effect;
    const isLast = effect.outcome !== undefined;
    if (given >= MAX_FOLLOWED) offset = isLast ? newestFrom(effect.spool, offset) : effect.spool.bytes;
    for (let chunk = effect.spool.read(offset, READ_BYTES); chunk.length > 0; chunk = effect.spool.read(offset, READ_BYTES)) {
      yield { type: 'output', offset, text: DECODER.decode(chunk) };
      offset += chunk.length;
      given += chunk.length;
      if (given >= MAX_FOLLOWED) break;
      if (given < wholeBytes || effect.spool.bytes - offset <= READ_BYTES) continue;
      await Promise.race([delay(NEWEST_EVERY_MS, undefined, { ref: false }), effect.ended.promise]);
      offset = newestFrom(effect.spool, offset);
    }
    if (isLast) return yield { type: 'outcome', observation: effect.outcome! };
    if (effect.news === news) await new Promise<void>((more) => void effect.waiting.push(more));
  }
}

/** Not before `from`, and where a character begins. */
function newestFrom(spool: Spool, from: number): number {
  const offset = spool.bytes - READ_BYTES;
  return offset <= from ? from : offset + characterStart(spool.read(offset, 4));
}
