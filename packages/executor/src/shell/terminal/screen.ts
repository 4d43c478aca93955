import { isWide } from './is-wide.ts';

/**
 * A terminal's screen: what a person would see of a program that moves the cursor up and down (editors, pagers, `top`,
 * progress in several lines). Colours are nothing here. Knows nothing of output that only goes on; that is `terminal-text.ts`.
 *
 * 1. Memory is bounded by rows × columns, twice: programs may draw on an alternate screen and leave the first as it was.
 * 2. Of the first screen every line is told once: those that scroll off through `onScrolledOff`, the rest by `take`.
 */
export interface Screen {
  /** Characters to show, no control characters among them. */
  print(text: string): void;
  control(character: string): void;
  /** A whole escape sequence. */
  sequence(text: string): void;
  readonly isAlternate: boolean;
  /** Of the first screen what was touched since the last take; of the alternate one all of it, if anything was. */
  take(): string;
  readonly column: number;
  /** Lines that went by since the cursor was last sent elsewhere. */
  readonly quietLines: number;
}

export interface ScreenOptions {
  readonly rows: number;
  readonly columns: number;
  readonly onScrolledOff: (line: string) => void;
}

/** What is drawn on: cells of one character each, the second half of a wide one is empty. */
interface Page {
  readonly lines: string[][];
  row: number;
  column: number;
  /** Of the part that scrolls. */
  top: number;
  bottom: number;
  saved: { readonly row: number; readonly column: number };
}

// oxlint-disable-next-line no-control-regex -- escape sequences begin with one
const CSI = /^\u001b\[([?>=!]?)([\d;]*)[ -/]*([@-~])$/;
const ALTERNATE = [47, 1047, 1049];
const TAB = 8;
/** A right end that is far away (a status line on a wide terminal) is shown nearer. */
const FAR = / {60,}/g;
const NEAR = '    ';

export function createScreen({ rows, columns, onScrolledOff }: ScreenOptions): Screen {
  const first = newPage(rows);
  let page = first;
  let touchedFrom = rows; // of the first: the uppermost row that was touched since the last take
  let isTouched = false; // the alternate one
  let lastCharacter = ' ';
  let quietLines = 0;

  const clampRow = (row: number): number => Math.max(0, Math.min(rows - 1, row));
  const clampColumn = (column: number): number => Math.max(0, Math.min(columns - 1, column));
  function touch(row: number): void {
    if (page === first) touchedFrom = Math.min(touchedFrom, row);
    else isTouched = true;
  }
  function moveTo(row: number, column: number): void {
    if (row < page.row) quietLines = 0;
    page.row = clampRow(row);
    page.column = clampColumn(column);
  }

  /** `onGone` is given the lines that go at the top. */
  function scroll(top: number, bottom: number, count: number, onGone?: (line: readonly string[]) => void): void {
    for (let left = Math.min(Math.abs(count), bottom - top + 1); left > 0; left -= 1) {
      if (count > 0) {
        const [gone = []] = page.lines.splice(top, 1);
        page.lines.splice(bottom, 0, []);
        if (page === first && top === 0) onGone?.(gone);
      } else {
        page.lines.splice(bottom, 1);
        page.lines.splice(top, 0, []);
      }
    }
    touch(count > 0 ? bottom : top);
  }
  function scrolledOff(line: readonly string[]): void {
    if (touchedFrom > 0) touchedFrom -= 1;
    else onScrolledOff(shown(line));
  }
  function lineFeed(): void {
    quietLines += 1;
    if (page.row === page.bottom) scroll(page.top, page.bottom, 1, scrolledOff);
    else page.row = clampRow(page.row + 1);
    touch(page.row);
  }
  function reverseLineFeed(): void {
    quietLines = 0;
    if (page.row === page.top) scroll(page.top, page.bottom, -1);
    else page.row = clampRow(page.row - 1);
  }

  function put(character: string): void {
    const width = isWide(character) ? 2 : 1;
    if (page.column + width > columns) {
      page.column = 0;
      lineFeed();
    }
    const line = page.lines[page.row]!;
    while (line.length < page.column) line.push(' ');
    line[page.column] = character;
    if (width === 2) line[page.column + 1] = '';
    page.column += width;
    lastCharacter = character;
  }

  function erase(row: number, from: number, to: number): void {
    const line = page.lines[row]!;
    if (to >= line.length) line.length = Math.min(line.length, from);
    else line.fill(' ', from, to);
    touch(row);
  }
  function eraseLine(mode: number): void {
    erase(page.row, mode === 0 ? page.column : 0, mode === 1 ? page.column + 1 : columns);
  }
  function eraseScreen(mode: number): void {
    quietLines = 0;
    const [from, to] = mode === 0 ? [page.row + 1, rows] : mode === 1 ? [0, page.row] : [0, rows];
    for (let row = from; row < to; row += 1) erase(row, 0, columns);
    if (mode < 2) eraseLine(mode);
  }

  function editLine(kind: string, count: number): void {
    const line = page.lines[page.row]!;
    while (line.length < page.column) line.push(' ');
    if (kind === '@') line.splice(page.column, 0, ...Array<string>(count).fill(' '));
    else if (kind === 'P') line.splice(page.column, count);
    else erase(page.row, page.column, page.column + count);
    line.length = Math.min(line.length, columns);
    touch(page.row);
  }

  function setMode(numbers: readonly number[], isOn: boolean): void {
    if (!numbers.some((number) => ALTERNATE.includes(number)) || isOn === (page !== first)) return;
    page = isOn ? newPage(rows) : first;
    quietLines = 0;
    isTouched = false;
  }

  function reset(): void {
    page = first;
    eraseScreen(2);
    Object.assign(page, { row: 0, column: 0, top: 0, bottom: rows - 1 });
  }

  function csi(kind: string, numbers: readonly number[]): void {
    const { row, column } = page;
    const n = Math.min(Math.max(1, numbers[0] ?? 1), Math.max(rows, columns));
    const moves: Readonly<Record<string, () => void>> = {
      A: () => moveTo(row - n, column),
      B: () => moveTo(row + n, column),
      C: () => moveTo(row, column + n),
      D: () => moveTo(row, column - n),
      E: () => moveTo(row + n, 0),
      F: () => moveTo(row - n, 0),
      G: () => moveTo(row, n - 1),
      '`': () => moveTo(row, n - 1),
      d: () => moveTo(n - 1, column),
      H: () => moveTo(n - 1, (numbers[1] || 1) - 1),
      f: () => moveTo(n - 1, (numbers[1] || 1) - 1),
      J: () => eraseScreen(numbers[0] ?? 0),
      K: () => eraseLine(numbers[0] ?? 0),
      L: () => scroll(row, page.bottom, -n),
      M: () => scroll(row, page.bottom, n),
      S: () => scroll(page.top, page.bottom, n, scrolledOff),
      T: () => scroll(page.top, page.bottom, -n),
      b: () => print(lastCharacter.repeat(n)),
      r: () => setRegion((numbers[0] || 1) - 1, (numbers[1] || rows) - 1),
      s: () => void (page.saved = { row, column }),
      u: () => moveTo(page.saved.row, page.saved.column),
    };
    if ('@PX'.includes(kind)) editLine(kind, n);
    else moves[kind]?.();
  }
  function setRegion(top: number, bottom: number): void {
    if (top >= bottom) return;
    Object.assign(page, { top: clampRow(top), bottom: clampRow(bottom) });
    moveTo(0, 0);
  }

  function print(text: string): void {
    touch(page.row);
    for (const character of text) put(character);
  }

  return {
    print,
    control(character) {
      if (character === '\n') {
        // The terminal passes line ends on as they are: on the first screen they are those of ordinary programs.
        if (page === first) page.column = 0;
        lineFeed();
      } else if (character === '\r') page.column = 0;
      else if (character === '\b') page.column = Math.max(0, page.column - 1);
      else if (character === '\t') page.column = clampColumn((Math.floor(page.column / TAB) + 1) * TAB);
    },
    sequence(text) {
      const [, mark, parameters = '', kind = ''] = CSI.exec(text) ?? [];
      const numbers = parameters === '' ? [] : parameters.split(';').map((number) => Math.min(Number(number), 10_000));
      if (mark === '?' && (kind === 'h' || kind === 'l')) setMode(numbers, kind === 'h');
      else if (mark === '' && kind !== '') csi(kind, numbers);
      else if (text === '\u001bM') reverseLineFeed();
      else if (text === '\u001bD') lineFeed();
      else if (text === '\u001bE') {
        page.column = 0;
        lineFeed();
      } else if (text === '\u001b7') page.saved = { row: page.row, column: page.column };
      else if (text === '\u001b8') moveTo(page.saved.row, page.saved.column);
      else if (text === '\u001bc') reset();
    },
    get isAlternate() {
      return page !== first;
    },
    get column() {
      return page.column;
    },
    get quietLines() {
      return page === first ? quietLines : 0;
    },
    take() {
      const before = touchedFrom < rows ? textOf(first.lines.slice(touchedFrom), first.row - touchedFrom) : '';
      const alternate = page !== first && isTouched ? textOf(page.lines, 0) : '';
      touchedFrom = rows;
      isTouched = false;
      return before + alternate;
    },
  };
}

function newPage(rows: number): Page {
  const lines = Array.from({ length: rows }, (): string[] => []);
  return { lines, row: 0, column: 0, top: 0, bottom: rows - 1, saved: { row: 0, column: 0 } };
}

/** As far as `row`, where the cursor is and what comes next begins, or as there is something. */
function textOf(lines: readonly (readonly string[])[], row: number): string {
  const text = lines.map(shown).join('\n').trimEnd();
  return text + '\n'.repeat(Math.max(0, row - (text.split('\n').length - 1)));
}

function shown(line: readonly string[]): string {
  return line.join('').trimEnd().replace(FAR, NEAR);
}
