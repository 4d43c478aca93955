/**
 * Shows a run in words. On a terminal (`isLive`) text and output appear as they come, and a last line says what is being done and for how
 * long; elsewhere the same words come from the log alone.
 *
 * T1  What was shown live is not shown again when its event comes.
 * T2  The status line is the last line, and gone before anything else is written.
 */
import type { DeltaFrame, Event, OutputFrame } from '@tendon/protocol';
import { describeAct, describeEvent, type Line } from './describe-event.ts';
import { printable } from './printable.ts';
import type { Renderer } from './renderer.ts';

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
  let status: { readonly words: string; readonly since: number } | undefined;
  let isStatusShown = false;
  /** What was written of the growing answer, or of the running command's output. */
  let streamed: { readonly kind: 'text' | 'output'; text: string; lines: number } | undefined;
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
    if (!status || streamed?.kind === 'text') return;
    if (streamed && !streamed.text.endsWith('\n')) return;
    const seconds = Math.floor((now() - status.since) / 1_000);
    write(`${CLEAR_LINE}${paint('state', `${status.words}${seconds > 0 ? `  ${seconds} s` : ''}`)}`);
    isStatusShown = true;
  }

  function say(words: string | undefined): void {
    status = words === undefined ? undefined : { words, since: now() };
  }

  /** Ends a streamed piece with its line; gives what of it was shown. */
  function endStream(): string {
    const shown = streamed?.text ?? '';
    if (shown !== '' && !shown.endsWith('\n')) put('\n');
    streamed = undefined;
    return shown;
  }

  function showLine(line: Line): void {
    if (line.tone !== 'output') return put(`${paint(line.tone, line.text)}\n`);
    const lines = line.text.split('\n');
    const shown = lines.slice(0, MAX_OUTPUT_LINES).map((text) => `  ${text}`);
    const rest = lines.length - shown.length;
    put(`${paint('output', shown.join('\n'))}\n${rest > 0 ? paint('state', `  … ${rest} more lines\n`) : ''}`);
  }

  function showDelta({ part, text, offset }: DeltaFrame): void {
    if (part !== 'text') return;
    if (offset === 0 && streamed) {
      endStream();
      put(paint('state', '(interrupted, once more)\n'));
    }
    const words = printable(text);
    streamed = { kind: 'text', text: (streamed?.text ?? '') + words, lines: 0 };
    put(words);
  }

  function showOutput({ text }: OutputFrame): void {
    const atLineStart = !streamed || streamed.text.endsWith('\n');
    const before = streamed?.lines ?? 0;
    const words = printable(text);
    const lines = before + words.split('\n').length - 1;
    if (before < MAX_OUTPUT_LINES) put(paint('output', `${atLineStart ? '  ' : ''}${words.replaceAll(/\n(?=.)/gs, '\n  ')}`));
    streamed = { kind: 'output', text: (streamed?.text ?? '') + words, lines };
  }

  return {
    begin({ model, sandbox, workspace }) {
      const name = model === 'demo' ? 'demo model (its answers are scripted)' : model;
      put(`${paint('state', `Tendon · ${name} · ${sandbox} · ${workspace}`)}\n\n`);
      say('Thinking');
    },
    event(event) {
      const shown = streamed?.kind;
      const live = endStream();
      for (const line of describeEvent(event)) if (!isShown(line, shown, live)) showLine(line);
      say(nextWords(event) ?? status?.words);
    },
    frame(frame) {
      if (!isLive) return;
      if (frame.volatile === 'delta') showDelta(frame);
      else if (frame.volatile === 'output') showOutput(frame);
    },
    notice(text) {
      endStream();
      put(`${paint('state', text)}\n`);
    },
    end() {
      clearInterval(ticker);
      endStream();
      put('');
    },
  };
}

/** Live output is shown as it came, so the recorded one (which may be shortened) is not shown again. */
function isShown(line: Line, kind: 'text' | 'output' | undefined, live: string): boolean {
  if (kind === 'output') return line.tone === 'output';
  return kind === 'text' && line.tone === 'speech' && live.trim() === line.text;
}

/** What is being done after this event; undefined when it changes nothing. */
function nextWords(event: Event): string | undefined {
  if ('action' in event && event.source === 'agent') return describeAct(event);
  return 'observation' in event && event.cause !== undefined ? 'Thinking' : undefined;
}
