import type { DeltaFrame, Event, OutputFrame } from '@tendon/protocol';
import type { Line } from './describe-event.ts';
import { printable } from '../terminal/printable.ts';

/** Writes words and output as they come, and remembers what its event need not say again. */
export interface LiveStream {
  /** The cursor stands in the middle of a line. */
  readonly isMidLine: boolean;
  text(frame: DeltaFrame): void;
  output(frame: OutputFrame): void;
  breakLine(): void;
  /** Whether this line of the event has been shown already. */
  hasShown(event: Event, line: Line): boolean;
}

export interface LiveStreamOptions {
  readonly put: (text: string) => void;
  readonly paint: (tone: Line['tone'], text: string) => string;
  /** Of one command; the rest is only counted. */
  readonly maxLines: number;
}

const MAX_CHARACTERS = 10_000;

export function createLiveStream({ put, paint, maxLines }: LiveStreamOptions): LiveStream {
  let isMidLine = false;
  let words: string | undefined;
  let command: { readonly cause: number; lines: number; characters: number } | undefined;

  function breakLine(): void {
    if (isMidLine) put('\n');
    isMidLine = false;
  }

  function begin(cause: number): NonNullable<typeof command> {
    breakLine();
    command = { cause, lines: 0, characters: 0 };
    return command;
  }

  return {
    get isMidLine() {
      return isMidLine;
    },
    text({ part, text, offset }) {
      if (part !== 'text') return;
      if (offset === 0 && words !== undefined) {
        breakLine();
        put(paint('state', '(interrupted, once more)\n'));
        words = undefined;
      }
      const shown = printable(text);
      words = (words ?? '') + shown;
      if (shown === '') return;
      put(shown);
      isMidLine = !shown.endsWith('\n');
    },
    output({ cause, text }) {
      const current = command?.cause === cause ? command : begin(cause);
      const shown = printable(text);
      const hasRoom = current.lines < maxLines && current.characters < MAX_CHARACTERS;
      current.lines += shown.split('\n').length - 1;
      current.characters += shown.length;
      if (!hasRoom || shown === '') return;
      put(paint('output', `${isMidLine ? '' : '  '}${shown.replaceAll(/\n(?=.)/gs, '\n  ')}`));
      isMidLine = !shown.endsWith('\n');
    },
    breakLine,
    hasShown(event, line) {
      if (line.tone === 'speech' && words !== undefined) {
        const same = words.trim() === line.text;
        words = undefined;
        return same;
      }
      if (line.tone !== 'output' || command === undefined || event.cause !== command.cause) return false;
      const rest = command.lines - maxLines;
      breakLine();
      if (rest > 0) put(paint('state', `  … more, ${command.lines} lines in all\n`));
      command = undefined;
      return true;
    },
  };
}
