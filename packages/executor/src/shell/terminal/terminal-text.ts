import { OUTPUT_LIMITS } from '@tendon/protocol/executor-api';
import { wholeCharacters } from '../../text/utf8.ts';
import { createBoundedText, textOf, type BoundedText } from './bounded-text.ts';
import { createFlood, type Flood } from './flood.ts';
import { Screen } from './screen.ts';

/* oxlint-disable no-control-regex -- this file is about control characters */
const PLAIN = /[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]+/y;
/** A whole escape sequence: CSI, OSC and other strings up to their end, or a short one. */
const SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]+[0-~]|[0-Z\\`-~])/y;
const CSI = /^\u001b\[(\d*)(?:;\d*)*([@-~])$/;

/** What sends the cursor up, or clears or changes the screen. */
const LEAVES_LINE = /^\u001b(?:\[[\d;]*[AFHfdLMST]|\[[123]J|\[\?(?:47|1047|1049)h|[Mc])$/;
/* oxlint-enable no-control-regex */

const MAX_LINE = 100_000;
/** Of the terminal: so wide that no line is wrapped, and as high as a person's. */
export const COLUMNS = 1000;
export const ROWS = 50;
const MAX_SEQUENCE = 4096;
/** Begins what may open the alternate screen, on which a line end is a step down and no more. */
const MODE = '\u001b[?';
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * What a person would read on a terminal, as plain text: escape sequences are taken out, a line that was overwritten
 * (progress bars) is shown in its last state, and only so much of it is held in memory. From where the cursor is sent up until
 * a screenful has gone by undisturbed it is the text of a screen.
 */
export class TerminalText {
  readonly #maxChars: number;
  #done: BoundedText;
  #line = '';
  #column = 0;
  /** The unfinished line has been taken in part. */
  #isHanging = false;
  /** The beginning of an escape sequence or of a line end. */
  #pending = '';
  /** The bytes of a character whose others are still to come. */
  #cut = NOTHING;
  #screen: Screen | undefined;
  #flood: Flood | undefined;

  /** `chars`: how long it is at most, with the line that says what was left out. */
  constructor(chars = OUTPUT_LIMITS.chars) {
    this.#maxChars = textOf(chars);
    this.#done = createBoundedText(this.#maxChars);
  }

  write(output: string | Buffer): void {
    const bytes = typeof output === 'string' ? Buffer.from(output) : output;
    if (this.#done.isCut && this.#screen?.isAlternate !== true && this.#dam(bytes)) return;
    this.#undam();
    this.#interpret(bytes);
  }

  /** The text since the last take; the unfinished line is part of it. `whole` is where all of it can be read. */
  take(whole?: string): string {
    const wasMidLine = this.isMidLine;
    this.#flushLine();
    this.#isHanging = wasMidLine;
    if (this.#screen) this.#done.append(this.#screen.take());
    const text = this.#done.take(whole);
    this.#done = createBoundedText(this.#maxChars);
    return text;
  }

  /** Forgets the unfinished line. */
  dropLine(): void {
    this.#undam();
    this.#line = '';
    this.#column = 0;
  }

  /** What was typed ends the line for a person, though its echo is no output. */
  typedLine(): void {
    this.#isHanging = false;
  }

  /** Whether the cursor stands behind something, as it does behind a prompt, or a program has the screen to itself. */
  get isMidLine(): boolean {
    this.#undam();
    if (this.#screen) return this.#screen.isAlternate || this.#screen.column > 0;
    return this.#column > 0 || this.#isHanging;
  }

  /** Whether a program has the whole screen to itself, as editors and pagers do. */
  get isFullScreen(): boolean {
    this.#undam();
    return this.#screen?.isAlternate === true;
  }

  /** False where they are to be looked at now. */
  #dam(bytes: Buffer): boolean {
    this.#flood ??= createFlood((characters) => this.#leaveOut(characters));
    if (this.#cut.length > 0) this.#flood.push(this.#cut);
    this.#cut = NOTHING;
    return this.#flood.push(bytes);
  }

  #leaveOut(characters: number): void {
    if (this.#screen) this.#closeScreen(this.#screen);
    this.#flushLine();
    this.#pending = '';
    this.#done.skip(characters);
  }

  #undam(): void {
    if (!this.#flood) return;
    const end = this.#flood.end();
    this.#flood = undefined;
    this.#interpret(end);
  }

  #interpret(bytes: Buffer): void {
    const whole = this.#cut.length > 0 ? Buffer.concat([this.#cut, bytes]) : bytes;
    const end = wholeCharacters(whole);
    this.#cut = end < whole.length ? Buffer.from(whole.subarray(end)) : NOTHING;
    this.#interpretText(whole.toString('utf8', 0, end));
  }

  #interpretText(text: string): void {
    // The end of a line, as terminals write it; a carriage return alone may be half of one.
    const isHalf = text.endsWith('\r');
    const raw = this.#pending + (isHalf ? text.slice(0, -1) : text);
    const input = this.#screen || raw.includes(MODE) ? raw : raw.replaceAll('\r\n', '\n');
    this.#pending = isHalf ? '\r' : '';
    let at = 0;
    while (at < input.length) {
      const run = matchAt(PLAIN, input, at);
      if (run) this.#plain(run);
      else if (input[at] === '\u001b') {
        const found = matchAt(SEQUENCE, input, at);
        if (found) this.#sequence(found);
        else if (input.length - at < MAX_SEQUENCE && isUnfinished(input, at)) {
          this.#pending = input.slice(at) + this.#pending;
          return;
        }
        at += found?.length ?? 1;
        continue;
      } else this.#control(input[at]!);
      at += run?.length ?? 1;
    }
  }

  #plain(text: string): void {
    if (!this.#screen) return this.#putPlain(text);
    toScreen(this.#screen, text);
    if (this.#screen.quietLines > 2 * ROWS) this.#closeScreen(this.#screen);
  }

  #control(character: string): void {
    if (this.#screen) return this.#screen.control(character);
    if (character === '\r') this.#column = 0;
    else if (character === '\b') this.#column = Math.max(0, this.#column - 1);
  }

  #sequence(text: string): void {
    if (!this.#screen && LEAVES_LINE.test(text)) this.#screen = this.#openScreen();
    if (this.#screen) return this.#screen.sequence(text);
    const [, count = '', kind] = CSI.exec(text) ?? [];
    const [n, column] = [Math.min(Number(count || 1), COLUMNS), this.#column];
    if (kind === 'K') this.#line = eraseLine(this.#line, column, count);
    else if (kind === 'C') this.#column = Math.max(column, Math.min(column + n, COLUMNS - 1));
    else if (kind === 'D') this.#column = Math.max(0, column - n);
    else if (kind === 'G') this.#column = Math.max(0, n - 1);
    else if (kind === 'P') this.#line = this.#line.slice(0, column) + this.#line.slice(column + n);
  }

  /** Whole lines on a terminal that only goes on: the usual case, and the fast one. */
  #putPlain(text: string): void {
    const lastBreak = text.lastIndexOf('\n');
    if (lastBreak < 0) return this.#put(text);
    const firstBreak = text.indexOf('\n');
    this.#put(text.slice(0, firstBreak));
    this.#flushLine();
    this.#done.append(text.slice(firstBreak, lastBreak + 1));
    this.#put(text.slice(lastBreak + 1));
  }

  #put(text: string): void {
    if (text === '') return;
    const [line, column] = [this.#line, this.#column];
    this.#line = column >= line.length ? line.padEnd(column) + text : line.slice(0, column) + text + line.slice(column + text.length);
    this.#column += text.length;
    if (this.#line.length > MAX_LINE) this.#flushLine();
  }

  #flushLine(): void {
    this.#done.append(this.#line);
    this.#isHanging = false;
    this.#line = '';
    this.#column = 0;
  }

  /** The newest lines are on it: the cursor may be sent back to them. */
  #openScreen(): Screen {
    const screen = new Screen({ rows: ROWS, columns: COLUMNS, onScrolledOff: (gone) => this.#done.append(`${gone}\n`) });
    const [before, at] = [this.#line, this.#column];
    this.#line = '';
    this.#column = 0;
    toScreen(screen, this.#done.takeEnd(ROWS - 1) + before);
    toScreen(screen, `\r${before.slice(0, at)}`);
    return screen;
  }

  #closeScreen(screen: Screen): void {
    this.#screen = undefined;
    this.#putPlain(screen.take());
    this.#column = screen.column;
  }
}

function toScreen(screen: Screen, text: string): void {
  for (const part of text.split(/([\n\r\t])/)) {
    if (part !== '' && '\n\r\t'.includes(part)) screen.control(part);
    else if (part !== '') screen.print(part);
  }
}

function matchAt(pattern: RegExp, input: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(input)?.[0];
}

/** An escape sequence that the input ends in the middle of. */
function isUnfinished(input: string, at: number): boolean {
  // oxlint-disable-next-line no-control-regex -- as above
  return /^\u001b(?:$|\[[0-?]*[ -/]*$|[\]PX^_][^\u0007\u001b]*\u001b?$|[ -/]+$)/.test(input.slice(at));
}

function eraseLine(line: string, column: number, mode: string): string {
  if (mode === '1') return ' '.repeat(Math.min(column + 1, line.length)) + line.slice(column + 1);
  if (mode === '2') return '';
  return line.slice(0, column);
}
