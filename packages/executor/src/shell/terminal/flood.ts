import { characterStart, utf8Length } from '../../text/utf8.ts';
import { createNewestBytes } from './bounded-text.ts';

/**
 * Output that is more than will be shown: only its end is stored, as it came, and interpreted when it is asked for. Not
 * so what a program draws on the alternate screen, piece by piece: where that opens, the flood is over.
 */
export interface Flood {
  /** False where these bytes open the alternate screen; they are not taken. */
  push(bytes: Buffer): boolean;
  /** The end of it. */
  end(): Buffer;
}

const END_BYTES = 131_072;
const ESCAPE = 0x1b;
const MODE = Buffer.from('\u001b[?');
// oxlint-disable-next-line no-control-regex -- an escape sequence begins with it
const OPENS_ALTERNATE = /\u001b\[\?(?:47|1047|1049)h/;
/** The longest of them. */
const MAX_OPENING = 8;
const NOTHING = Buffer.alloc(0);

/** `onGone` gets the number of characters that have been left out. */
export function createFlood(onGone: (characters: number) => void): Flood {
  let isCut = false;
  const newest = createNewestBytes(END_BYTES, (bytes) => {
    isCut = true;
    onGone(utf8Length(bytes));
  });
  let last: Buffer = NOTHING; // may be half of an opening

  function isOpening(bytes: Buffer): boolean {
    const straddles = last.length > 0 && opensAlternate(Buffer.concat([last, bytes.subarray(0, MAX_OPENING)]));
    const end = bytes.length < MAX_OPENING ? Buffer.concat([last, bytes]).subarray(-MAX_OPENING) : bytes.subarray(-MAX_OPENING);
    last = end.includes(ESCAPE) ? Buffer.from(end) : NOTHING;
    return straddles || opensAlternate(bytes);
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

function opensAlternate(bytes: Buffer): boolean {
  return bytes.includes(MODE) && OPENS_ALTERNATE.test(bytes.toString('latin1'));
}
