import { characterStart } from '../character-start.ts';
import { createNewestBytes } from './newest-bytes.ts';

/**
 * Output that is more than will be shown: it is kept as it came, and only its end, to be looked at when that is asked for. Not
 * so what a program draws on the alternate screen, piece by piece: where that opens, the flood is over.
 */
export interface Flood {
  /** False where these bytes open the alternate screen; they are not taken. */
  push(bytes: Buffer): boolean;
  /** The end of it. */
  end(): Buffer;
}

const KEPT_BYTES = 131_072;
const MODE = '\u001b[?';
// oxlint-disable-next-line no-control-regex -- an escape sequence begins with it
const OPENS_ALTERNATE = /\u001b\[\?(?:47|1047|1049)h/;
/** The longest of them. */
const MAX_OPENING = 8;

/** `onGone` is told how many characters have been left out. */
export function createFlood(onGone: (characters: number) => void): Flood {
  let isCut = false;
  const newest = createNewestBytes(KEPT_BYTES, (bytes) => {
    isCut = true;
    onGone(charactersOf(bytes));
  });
  let last: Buffer = Buffer.alloc(0); // may be half of an opening

  function isOpening(bytes: Buffer): boolean {
    const joint = Buffer.concat([last, bytes.subarray(0, MAX_OPENING)]);
    last = Buffer.concat([last, bytes.subarray(-MAX_OPENING)]).subarray(-MAX_OPENING);
    return [joint, bytes].some((some) => some.includes(MODE) && OPENS_ALTERNATE.test(some.toString('latin1')));
  }

  return {
    push(bytes) {
      if (isOpening(bytes)) return false;
      newest.push(bytes);
      return true;
    },
    end() {
      const bytes = newest.take();
      // The first byte of a character that is cut was counted among those that are gone.
      return isCut ? bytes.subarray(characterStart(bytes)) : bytes;
    },
  };
}

/** As a string counts them: of each the first byte, and twice where it takes two places. */
function charactersOf(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte < 0x80 || byte >= 0xc0) count += byte < 0xf0 ? 1 : 2;
  }
  return count;
}
