/**
 * Text of any length in bounded memory: the first half and the last half of `maxChars`, with a line between them that says
 * how much was left out.
 */
export interface BoundedText {
  append(text: string): void;
  /** Takes the last lines back, as many as there are. */
  takeEnd(lines: number): string;
  /** So many characters come next and are left out, and with them the end so far. */
  skip(chars: number): void;
  /** Everything, or both ends; `whole` says where the rest can be read. */
  take(whole?: string): string;
  readonly isCut: boolean;
}

/** For the line between the halves, which names a file. */
const LINE_CHARS = 500;

/** How much text fits beside that line in so many characters. */
export function textOf(chars: number): number {
  return Math.max(1, chars - LINE_CHARS);
}

export function createBoundedText(maxChars: number): BoundedText {
  const half = Math.floor(maxChars / 2);
  let head = '';
  let tail = '';
  let left = 0; // characters dropped from the front of the tail

  return {
    append(text) {
      const space = half - head.length;
      if (space > 0) {
        head += text.slice(0, space);
        text = text.slice(space);
      }
      tail += text.length > half ? text.slice(-half) : text;
      left += Math.max(0, text.length - half);
      if (tail.length > 4 * half) trimTail();
    },
    takeEnd(lines) {
      const source = tail === '' ? head : tail;
      let from = source.length;
      for (let line = 0; line <= lines && from >= 0; line += 1) from = from === 0 ? -1 : source.lastIndexOf('\n', from - 1);
      const rest = source.slice(0, from + 1);
      if (tail === '') head = rest;
      else tail = rest;
      return source.slice(from + 1);
    },
    skip(chars) {
      left += tail.length + chars;
      tail = '';
    },
    take(whole) {
      if (left === 0 && tail.length <= maxChars - half) return head + tail;
      trimTail();
      return `${withoutLoneEnd(head)}\n[... Observation truncated due to length: ${left} characters left out${whole === undefined ? '' : `; the output is stored in ${whole}`} ...]\n${withoutLoneStart(tail)}`;
    },
    get isCut() {
      return left > 0 || tail.length > maxChars - half;
    },
  };

  function trimTail(): void {
    left += Math.max(0, tail.length - half);
    // Through a Buffer: a slice would keep the long string it was cut from alive.
    tail = Buffer.from(tail.slice(-half), 'utf16le').toString('utf16le');
  }
}

function withoutLoneEnd(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}

function withoutLoneStart(text: string): string {
  return /^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text;
}

/**
 * The newest of any number of bytes, in memory that does not grow: at least `size` of them, at most twice as many. What is
 * pushed is copied; what goes for it is reported in order, in pieces that are valid during the call.
 */
export interface NewestBytes {
  push(bytes: Buffer): void;
  /** Everything that is there; afterwards it is empty. */
  take(): Buffer;
}

export function createNewestBytes(size: number, onGone?: (bytes: Buffer) => void): NewestBytes {
  let older: Buffer | undefined; // full
  let newer: Buffer | undefined;
  let filled = 0;

  function turnOver(): void {
    const gone = older;
    if (gone) onGone?.(gone);
    older = newer;
    newer = gone;
    filled = 0;
  }

  return {
    push(bytes) {
      for (let rest = bytes; rest.length > 0;) {
        if (filled === size) turnOver();
        newer ??= Buffer.allocUnsafeSlow(size);
        const copied = rest.copy(newer, filled);
        filled += copied;
        rest = rest.subarray(copied);
      }
    },
    take() {
      const all = Buffer.concat([older ?? Buffer.alloc(0), newer?.subarray(0, filled) ?? Buffer.alloc(0)]);
      older = undefined;
      newer = undefined;
      filled = 0;
      return all;
    },
  };
}
