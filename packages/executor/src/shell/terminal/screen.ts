import { cellWidth } from './cell-width.ts';

export interface ScreenOptions {
  readonly rows: number;
  readonly columns: number;
  readonly onScrolledOff: (line: string) => void;
}

/** What is drawn on: cells of one character each, with the accents that belong to it; the second half of a wide one is empty. */
interface ScreenPage {
  readonly lines: string[][];
  row: number;
  column: number;
  /** Of the part that scrolls. */
  top: number;
  bottom: number;
  saved: { readonly row: number; readonly column: number };
}

type Csi = (screen: Screen, n: number, numbers: readonly number[]) => void;

// oxlint-disable-next-line no-control-regex -- escape sequences begin with one
const CSI = /^\u001b\[([?>=!]?)([\d;]*)[ -/]*([@-~])$/;
const ALTERNATE = [47, 1047, 1049];
const TAB = 8;
/** Of a character with what belongs to it, in UTF-16 units. */
const MAX_CELL = 16;
/** A right end that is far away (a status line on a wide terminal) is shown nearer. */
const FAR = / {60,}/g;
const NEAR = '    ';

/**
 * A terminal's screen: what a person would see of a program that moves the cursor up and down (editors, pagers, `top`,
 * progress in several lines). Colours are nothing here. Knows nothing of output that only goes on; that is `terminal-text.ts`.
 *
 * 1. Memory is bounded by rows × columns, twice: programs may draw on an alternate screen and leave the first as it was.
 * 2. Of the first screen every line is reported once: those that scroll off through `onScrolledOff`, the rest by `take`.
 */
export class Screen {
  readonly #rows: number;
  readonly #columns: number;
  readonly #onScrolledOff: (line: string) => void;
  readonly #first: ScreenPage;
  #page: ScreenPage;
  /** Of the first: the uppermost row that was touched since the last take. */
  #touchedFrom: number;
  /** The alternate one. */
  #isTouched = false;
  #lastCharacter = ' ';
  #quietLines = 0;

  constructor({ rows, columns, onScrolledOff }: ScreenOptions) {
    this.#rows = rows;
    this.#columns = columns;
    this.#onScrolledOff = onScrolledOff;
    this.#first = newPage(rows);
    this.#page = this.#first;
    this.#touchedFrom = rows;
  }

  /** Characters to show, no control characters among them. */
  print(text: string): void {
    this.#touch(this.#page.row);
    for (const character of text) this.#put(character);
  }

  control(character: string): void {
    const page = this.#page;
    if (character === '\n') {
      // The terminal passes line ends on as they are: on the first screen they are those of ordinary programs.
      if (page === this.#first) page.column = 0;
      this.#lineFeed();
    } else if (character === '\r') page.column = 0;
    else if (character === '\b') page.column = Math.max(0, page.column - 1);
    else if (character === '\t') page.column = this.#clampColumn((Math.floor(page.column / TAB) + 1) * TAB);
  }

  /** A whole escape sequence. */
  sequence(text: string): void {
    const [, mark, parameters = '', kind = ''] = CSI.exec(text) ?? [];
    const numbers = parameters === '' ? [] : parameters.split(';').map((number) => Math.min(Number(number), 10_000));
    if (mark === '?' && (kind === 'h' || kind === 'l')) this.#setMode(numbers, kind === 'h');
    else if (mark === '' && kind !== '') {
      const n = Math.min(Math.max(1, numbers[0] ?? 1), Math.max(this.#rows, this.#columns));
      Screen.#CSIS[kind]?.(this, n, numbers);
    } else if (text === '\u001bM') this.#reverseLineFeed();
    else if (text === '\u001bD') this.#lineFeed();
    else if (text === '\u001bE') {
      this.#page.column = 0;
      this.#lineFeed();
    } else if (text === '\u001b7') this.#save();
    else if (text === '\u001b8') this.#moveTo(this.#page.saved.row, this.#page.saved.column);
    else if (text === '\u001bc') this.#reset();
  }

  get isAlternate(): boolean {
    return this.#page !== this.#first;
  }

  get column(): number {
    return this.#page.column;
  }

  /** Lines that went by since the cursor last jumped. */
  get quietLines(): number {
    return this.isAlternate ? 0 : this.#quietLines;
  }

  /** Of the first screen what was touched since the last take; of the alternate one all of it, if anything was. */
  take(): string {
    const from = this.#touchedFrom;
    const before = from < this.#rows ? textOf(this.#first.lines.slice(from), this.#first.row - from) : '';
    const alternate = this.isAlternate && this.#isTouched ? textOf(this.#page.lines, 0) : '';
    this.#touchedFrom = this.#rows;
    this.#isTouched = false;
    return before + alternate;
  }

  static readonly #CSIS: Readonly<Record<string, Csi>> = {
    A: (screen, n) => screen.#moveBy(-n, 0),
    B: (screen, n) => screen.#moveBy(n, 0),
    C: (screen, n) => screen.#moveBy(0, n),
    D: (screen, n) => screen.#moveBy(0, -n),
    E: (screen, n) => screen.#moveTo(screen.#page.row + n, 0),
    F: (screen, n) => screen.#moveTo(screen.#page.row - n, 0),
    G: (screen, n) => screen.#moveTo(screen.#page.row, n - 1),
    '`': (screen, n) => screen.#moveTo(screen.#page.row, n - 1),
    d: (screen, n) => screen.#moveTo(n - 1, screen.#page.column),
    H: (screen, n, numbers) => screen.#moveTo(n - 1, (numbers[1] || 1) - 1),
    f: (screen, n, numbers) => screen.#moveTo(n - 1, (numbers[1] || 1) - 1),
    J: (screen, _n, numbers) => screen.#eraseScreen(numbers[0] ?? 0),
    K: (screen, _n, numbers) => screen.#eraseLine(numbers[0] ?? 0),
    L: (screen, n) => screen.#scroll(screen.#page.row, -n),
    M: (screen, n) => screen.#scroll(screen.#page.row, n),
    S: (screen, n) => screen.#scrollAway(n),
    T: (screen, n) => screen.#scroll(screen.#page.top, -n),
    '@': (screen, n) => screen.#editLine((line, column) => void line.splice(column, 0, ...Array<string>(n).fill(' '))),
    P: (screen, n) => screen.#editLine((line, column) => void line.splice(column, n)),
    X: (screen, n) => screen.#editLine((_line, column) => screen.#erase(screen.#page.row, column, column + n)),
    b: (screen, n) => screen.print(screen.#lastCharacter.repeat(n)),
    r: (screen, _n, numbers) => screen.#setRegion((numbers[0] || 1) - 1, (numbers[1] || screen.#rows) - 1),
    s: (screen) => screen.#save(),
    u: (screen) => screen.#moveTo(screen.#page.saved.row, screen.#page.saved.column),
  };

  #clampRow(row: number): number {
    return Math.max(0, Math.min(this.#rows - 1, row));
  }

  #clampColumn(column: number): number {
    return Math.max(0, Math.min(this.#columns - 1, column));
  }

  #touch(row: number): void {
    if (this.isAlternate) this.#isTouched = true;
    else this.#touchedFrom = Math.min(this.#touchedFrom, row);
  }

  #moveBy(rows: number, columns: number): void {
    this.#moveTo(this.#page.row + rows, this.#page.column + columns);
  }

  #moveTo(row: number, column: number): void {
    if (row < this.#page.row) this.#quietLines = 0;
    this.#page.row = this.#clampRow(row);
    this.#page.column = this.#clampColumn(column);
  }

  #save(): void {
    this.#page.saved = { row: this.#page.row, column: this.#page.column };
  }

  /** From `top` to the end of the part that scrolls; up by `count` lines, or down. `onGone` is given those that leave the first screen. */
  #scroll(top: number, count: number, onGone?: (line: readonly string[]) => void): void {
    const { lines, bottom } = this.#page;
    for (let left = Math.min(Math.abs(count), bottom - top + 1); left > 0; left -= 1) {
      if (count > 0) {
        const [gone = []] = lines.splice(top, 1);
        lines.splice(bottom, 0, []);
        if (!this.isAlternate && top === 0) onGone?.(gone);
      } else {
        lines.splice(bottom, 1);
        lines.splice(top, 0, []);
      }
    }
    this.#touch(count > 0 ? bottom : top);
  }

  /** What goes at the top has been reported, or is reported now. */
  #scrollAway(count: number): void {
    this.#scroll(this.#page.top, count, (line) => {
      if (this.#touchedFrom > 0) this.#touchedFrom -= 1;
      else this.#onScrolledOff(shown(line));
    });
  }

  #lineFeed(): void {
    this.#quietLines += 1;
    if (this.#page.row === this.#page.bottom) this.#scrollAway(1);
    else this.#page.row = this.#clampRow(this.#page.row + 1);
    this.#touch(this.#page.row);
  }

  #reverseLineFeed(): void {
    this.#quietLines = 0;
    if (this.#page.row === this.#page.top) this.#scroll(this.#page.top, -1);
    else this.#page.row = this.#clampRow(this.#page.row - 1);
  }

  #put(character: string): void {
    const page = this.#page;
    const width = cellWidth(character);
    if (width === 0) return this.#join(character);
    if (page.column + width > this.#columns) {
      page.column = 0;
      this.#lineFeed();
    }
    const line = page.lines[page.row]!;
    while (line.length < page.column) line.push(' ');
    line[page.column] = character;
    if (width === 2) line[page.column + 1] = '';
    page.column += width;
    this.#lastCharacter = character;
  }

  /** To the character before the cursor; one that has no room for more stays as it is. */
  #join(character: string): void {
    const { row, column, lines } = this.#page;
    const line = lines[row]!;
    const at = line[column - 1] === '' ? column - 2 : column - 1;
    const before = line[at];
    if (before !== undefined && before.length < MAX_CELL) line[at] = before + character;
  }

  #erase(row: number, from: number, to: number): void {
    const line = this.#page.lines[row]!;
    if (to >= line.length) line.length = Math.min(line.length, from);
    else line.fill(' ', from, to);
    this.#touch(row);
  }

  #eraseLine(mode: number): void {
    const { row, column } = this.#page;
    this.#erase(row, mode === 0 ? column : 0, mode === 1 ? column + 1 : this.#columns);
  }

  #eraseScreen(mode: number): void {
    this.#quietLines = 0;
    const { row } = this.#page;
    const [from, to] = mode === 0 ? [row + 1, this.#rows] : mode === 1 ? [0, row] : [0, this.#rows];
    for (let each = from; each < to; each += 1) this.#erase(each, 0, this.#columns);
    if (mode < 2) this.#eraseLine(mode);
  }

  #editLine(edit: (line: string[], column: number) => void): void {
    const { row, column, lines } = this.#page;
    const line = lines[row]!;
    while (line.length < column) line.push(' ');
    edit(line, column);
    line.length = Math.min(line.length, this.#columns);
    this.#touch(row);
  }

  #setMode(numbers: readonly number[], isOn: boolean): void {
    if (!numbers.some((number) => ALTERNATE.includes(number)) || isOn === this.isAlternate) return;
    this.#page = isOn ? newPage(this.#rows) : this.#first;
    this.#quietLines = 0;
    this.#isTouched = false;
  }

  #setRegion(top: number, bottom: number): void {
    if (top >= bottom) return;
    Object.assign(this.#page, { top: this.#clampRow(top), bottom: this.#clampRow(bottom) });
    this.#moveTo(0, 0);
  }

  #reset(): void {
    this.#page = this.#first;
    this.#eraseScreen(2);
    Object.assign(this.#page, { row: 0, column: 0, top: 0, bottom: this.#rows - 1 });
  }
}

function newPage(rows: number): ScreenPage {
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
