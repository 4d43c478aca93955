/**
 * Shows a run in words. On a terminal (`isLive`) text and output appear as they come, and a last line says what is being done and for how
 * long; in a pipe the same words come from the log alone.
 *
 * T1  What was shown live is not shown again when its event comes.
 * T2  The status line is the last line, and gone before anything else is written.
 */
import type { Event, DeltaFrame, OutputFrame } from '@tendon/protocol';
import { describeAct, describeEvent, type Line } from './describe-event.ts';
import type { Renderer } from './renderer.ts';
import { printable } from '../terminal/printable.ts';

export interface TextRendererOptions {
  readonly write: (text: string) => void;
  readonly isLive: boolean;
  readonly isColoured: boolean;
  /** Milliseconds since some beginning. */
  readonly now: () => number;
}

const COLOURS = { speech: '', act: '\u001b[36m', output: '\u001b[2m', fault: '\u001b[31m', state: '\u001b[2m' } as const;
const MAX_OUTPUT_LINES = 40;
const CLEAR_LINE = '\r\u001b[2K';

export function createTextRenderer({ write, isLive, isColoured, now }: TextRendererOptions): Renderer {
  let status = { words: 'Thinking', since: now() };
  let isStatusShown = false;
  const live = createLiveStream({ put, paint, maxLines: MAX_OUTPUT_LINES });
  const ticker = isLive ? setInterval(showStatus, 500) : undefined;
  ticker?.unref();

  function paint(tone: Line['tone'], text: string): string {
    return isColoured && COLOURS[tone] !== '' ? `${COLOURS[tone]}${text}\u001b[0m` : text;
  }

  function put(text: string): void {
    if (isStatusShown) write(CLEAR_LINE);
    isStatusShown = false;
    write(text);
  }

  function showStatus(): void {
    if (live.isMidLine) return;
    const seconds = Math.floor((now() - status.since) / 1_000);
    write(`${CLEAR_LINE}${paint('state', `${status.words}${seconds > 0 ? `  ${seconds} s` : ''}`)}`);
    isStatusShown = true;
  }

  function showLine(line: Line): void {
    live.breakLine();
    if (line.tone !== 'output') return put(`${paint(line.tone, line.text)}\n`);
    const lines = line.text.split('\n');
    const shown = lines.slice(0, MAX_OUTPUT_LINES).map((text) => `  ${text}`);
    put(`${paint('output', shown.join('\n'))}\n`);
    if (lines.length > MAX_OUTPUT_LINES) put(paint('state', `  … more, ${lines.length} lines in all\n`));
  }

  return {
    begin({ model, sandbox, workspace }) {
      const name = model === 'demo' ? 'demo model (its answers are scripted)' : model;
      put(`${paint('state', `Tendon · ${name} · ${sandbox} · ${workspace}`)}\n\n`);
    },
    event(event) {
      for (const line of describeEvent(event)) if (!live.hasShown(event, line)) showLine(line);
      const words = nextWords(event);
      if (words !== undefined) status = { words, since: now() };
    },
    frame(frame) {
      if (!isLive) return;
      if (frame.volatile === 'delta') live.text(frame);
      else if (frame.volatile === 'output') live.output(frame);
    },
    notice(text) {
      live.breakLine();
      put(`${paint('state', text)}\n`);
    },
    end() {
      clearInterval(ticker);
      live.breakLine();
      put('');
    },
  };
}

/** What is being done after this event; undefined when it changes nothing. */
function nextWords(event: Event): string | undefined {
  if ('action' in event && event.source === 'agent') return describeAct(event);
  return 'observation' in event && event.cause !== undefined ? 'Thinking' : undefined;
}

/** Writes words and output as they come, and remembers what its event need not say again. */
interface LiveStream {
  /** The cursor stands in the middle of a line. */
  readonly isMidLine: boolean;
  text(frame: DeltaFrame): void;
  output(frame: OutputFrame): void;
  breakLine(): void;
  /** Whether this line of the event has been shown already. */
  hasShown(event: Event, line: Line): boolean;
}

interface LiveStreamOptions {
  readonly put: (text: string) => void;
  readonly paint: (tone: Line['tone'], text: string) => string;
  /** Of one command; the rest is only counted. */
  readonly maxLines: number;
}

const MAX_CHARACTERS = 10_000;

function createLiveStream({ put, paint, maxLines }: LiveStreamOptions): LiveStream {
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
      const hasSpace = current.lines < maxLines && current.characters < MAX_CHARACTERS;
      current.lines += shown.split('\n').length - 1;
      current.characters += shown.length;
      if (!hasSpace || shown === '') return;
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
