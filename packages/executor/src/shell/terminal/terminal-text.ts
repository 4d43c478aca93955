import { OUTPUT_LIMITS } from '@tendon/protocol/executor-api';
import { wholeCharacters } from '../../text/whole-characters.ts';
import { createBoundedText, textOf } from './bounded-text.ts';
import { createFlood, type Flood } from './flood.ts';
import { createScreen, type Screen } from './screen.ts';

/**
 * What a person would read on a terminal, as plain text: escape sequences are taken out, a line that was overwritten
 * (progress bars) is kept in its last state, and only so much of it is held in memory. From where the cursor is sent up until
 * a screenful has gone by undisturbed it is the text of a screen.
 */
export interface TerminalText {
  write(output: string | Buffer): void;
  /** The text since the last take; the line in the making is part of it. `whole` is where all of it can be read. */
  take(whole?: string): string;
  /** Forgets the line in the making. */
  dropLine(): void;
  /** What was typed ends the line for a person, though its echo is no output. */
  typedLine(): void;
  /** Whether the cursor stands behind something, as it does behind a prompt, or a program has the screen to itself. */
  readonly isMidLine: boolean;
  /** Whether a program has the whole screen to itself, as editors and pagers do. */
  readonly isFullScreen: boolean;
}

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

/** `chars`: how long it is at most, with the line that says what was left out. */
export function createTerminalText(chars = OUTPUT_LIMITS.chars): TerminalText {
  const maxChars = textOf(chars);
  let done = createBoundedText(maxChars);
  let line = '';
  let column = 0;
  let isHanging = false; // the line in the making has been taken in part
  let pending = '';
  let screen: Screen | undefined;
  let cut = NOTHING; // the bytes of a character whose others are still to come
  let flood: Flood | undefined;

  const put = (text: string): void => {
    if (text === '') return;
    line = column >= line.length ? line.padEnd(column) + text : line.slice(0, column) + text + line.slice(column + text.length);
    column += text.length;
    if (line.length > MAX_LINE) flushLine();
  };
  function flushLine(): void {
    done.append(line);
    isHanging = false;
    line = '';
    column = 0;
  }
  function putPlain(text: string): void {
    const lastBreak = text.lastIndexOf('\n');
    if (lastBreak < 0) return put(text);
    const firstBreak = text.indexOf('\n');
    put(text.slice(0, firstBreak));
    flushLine();
    done.append(text.slice(firstBreak, lastBreak + 1));
    put(text.slice(lastBreak + 1));
  }
  function control(character: string): void {
    if (screen) return screen.control(character);
    if (character === '\r') column = 0;
    else if (character === '\b') column = Math.max(0, column - 1);
  }
  function sequence(text: string): void {
    if (!screen && LEAVES_LINE.test(text)) openScreen();
    if (screen) return screen.sequence(text);
    const [, count = '', kind] = CSI.exec(text) ?? [];
    const n = Math.min(Number(count || 1), COLUMNS);
    if (kind === 'K') line = eraseLine(line, column, count);
    else if (kind === 'C') column = Math.max(column, Math.min(column + n, COLUMNS - 1));
    else if (kind === 'D') column = Math.max(0, column - n);
    else if (kind === 'G') column = Math.max(0, n - 1);
    else if (kind === 'P') line = line.slice(0, column) + line.slice(column + n);
  }

  /** The newest lines are on it: the cursor may be sent back to them. */
  function openScreen(): void {
    screen = createScreen({ rows: ROWS, columns: COLUMNS, onScrolledOff: (gone) => done.append(`${gone}\n`) });
    const [before, at] = [line, column];
    line = '';
    column = 0;
    toScreen(screen, done.takeEnd(ROWS - 1) + before);
    toScreen(screen, `\r${before.slice(0, at)}`);
  }
  function closeScreen(from: Screen): void {
    screen = undefined;
    putPlain(from.take());
    column = from.column;
  }
  function toScreen(to: Screen, text: string): void {
    for (const part of text.split(/([\n\r\t])/)) {
      if (part !== '' && '\n\r\t'.includes(part)) to.control(part);
      else if (part !== '') to.print(part);
    }
  }
  function plain(text: string): void {
    if (!screen) return putPlain(text);
    toScreen(screen, text);
    if (screen.quietLines > 2 * ROWS) closeScreen(screen);
  }

  /** False where they are to be looked at now. */
  function dam(bytes: Buffer): boolean {
    flood ??= createFlood(leaveOut);
    if (cut.length > 0) flood.push(cut);
    cut = NOTHING;
    return flood.push(bytes);
  }
  function leaveOut(characters: number): void {
    if (screen) closeScreen(screen);
    flushLine();
    pending = '';
    done.skip(characters);
  }
  function undam(): void {
    if (!flood) return;
    const end = flood.end();
    flood = undefined;
    interpret(end);
  }

  function interpret(bytes: Buffer): void {
    const whole = cut.length > 0 ? Buffer.concat([cut, bytes]) : bytes;
    const end = wholeCharacters(whole);
    cut = end < whole.length ? Buffer.from(whole.subarray(end)) : NOTHING;
    interpretText(whole.toString('utf8', 0, end));
  }
  function interpretText(text: string): void {
    // The end of a line, as terminals write it; a carriage return alone may be half of one.
    const isHalf = text.endsWith('\r');
    const raw = pending + (isHalf ? text.slice(0, -1) : text);
    const input = screen || raw.includes(MODE) ? raw : raw.replaceAll('\r\n', '\n');
    pending = isHalf ? '\r' : '';
    let at = 0;
    while (at < input.length) {
      const run = matchAt(PLAIN, input, at);
      if (run) plain(run);
      else if (input[at] === '\u001b') {
        const found = matchAt(SEQUENCE, input, at);
        if (found) sequence(found);
        else if (input.length - at < MAX_SEQUENCE && isUnfinished(input, at)) {
          pending = input.slice(at) + pending;
          return;
        }
        at += found?.length ?? 1;
        continue;
      } else control(input[at]!);
      at += run?.length ?? 1;
    }
  }

  function isMidLine(): boolean {
    return screen ? screen.isAlternate || screen.column > 0 : column > 0 || isHanging;
  }

  return {
    write(output) {
      const bytes = typeof output === 'string' ? Buffer.from(output) : output;
      if (done.isCut && screen?.isAlternate !== true && dam(bytes)) return;
      undam();
      interpret(bytes);
    },
    take(whole) {
      undam();
      const wasMidLine = isMidLine();
      flushLine();
      isHanging = wasMidLine;
      if (screen) done.append(screen.take());
      const text = done.take(whole);
      done = createBoundedText(maxChars);
      return text;
    },
    dropLine() {
      undam();
      line = '';
      column = 0;
    },
    typedLine() {
      isHanging = false;
    },
    get isMidLine() {
      undam();
      return isMidLine();
    },
    get isFullScreen() {
      undam();
      return screen?.isAlternate === true;
    },
  };
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
