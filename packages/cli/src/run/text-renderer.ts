/**
 * Shows a run in words. On a terminal (`isLive`) text appears as it comes, and a last line says what is being done and for how long; in a
 * pipe the same words come from the log alone. Of a command's output the first lines and the last ones are shown.
 *
 * In colours the agent's words are shown as the Markdown they are; without, as they were written.
 *
 * TE1  What was shown live is not shown again when its event comes.
 * TE2  The status line is the last line and one line, gone before anything else is written, and drawn only when its text changes.
 */
import type { Event } from '@tendon/protocol';
import { describeAct, describeEvent, type Line } from './describe-event.ts';
import type { Renderer } from './renderer.ts';
import { cutToColumns, wrapToColumns } from '../terminal/columns.ts';
import { markdownProse, MarkdownProse } from '../terminal/markdown-prose.ts';
import { printable } from '../terminal/printable.ts';
import { shortLine } from '../terminal/short-line.ts';

export interface TextRendererOptions {
  readonly write: (text: string) => void;
  readonly isLive: boolean;
  readonly isColoured: boolean;
  /** Milliseconds since some beginning. */
  readonly now: () => number;
  /** Width of the terminal; default 80. */
  readonly columns?: () => number;
  /** What the user is typing, shown in place of the status. */
  readonly typed?: () => string;
}

const COLOURS: Readonly<Record<Line['tone'], string>> = {
  speech: '',
  act: '\u001b[36m',
  output: '\u001b[2m',
  fault: '\u001b[31m',
  state: '\u001b[2m',
  added: '\u001b[32m',
  removed: '\u001b[31m',
  context: '\u001b[2m',
};
/** Of a command's output. */
const HEAD = 2;
const TAIL = 8;
const CLEAR_LINE = '\r\u001b[2K';
/** What is wider than the terminal stays in its line: how wide a character is, the terminal alone knows. */
const WRAP_OFF = '\u001b[?7l';
const WRAP_ON = '\u001b[?7h';
/** How often it is looked whether the status line says something else. */
const LOOK_MS = 250;

/** `since` in milliseconds, as `now` counts them. */
interface Status {
  readonly words: string;
  readonly since: number;
}

export class TextRenderer implements Renderer {
  readonly #options: TextRendererOptions;
  readonly #ticker: NodeJS.Timeout | undefined;
  #status: Status | undefined;
  /** Stands in the place of the status. */
  #obstacle: Status | undefined;
  #shownStatus = '';
  /** The agent's words that were written and whose event has not come. */
  #words: string | undefined;
  readonly #prose: MarkdownProse | undefined;
  #isMidLine = false;

  constructor(options: TextRendererOptions) {
    this.#options = options;
    this.#prose = options.isColoured ? new MarkdownProse(options.columns) : undefined;
    this.#status = { words: 'Thinking', since: options.now() };
    this.#ticker = options.isLive ? setInterval(() => this.#showStatus(), LOOK_MS) : undefined;
    this.#ticker?.unref();
  }

  begin({ model, sandbox, workspace }: Parameters<Renderer['begin']>[0]): void {
    const name = model === 'demo' ? 'demo model (its answers are scripted)' : model;
    this.#put(`${this.paint('state', ['Tendon', name, sandbox, workspace].filter(Boolean).join(' · '))}\n\n`);
  }

  /** Whether it showed anything, or changed the status line. */
  event(event: Event): boolean {
    const lines = describeEvent(event);
    for (const line of lines) this.#showEventLine(line);
    const words = nextWords(event);
    if (words !== undefined) this.working(words);
    return lines.length > 0 || words !== undefined;
  }

  frame(frame: Parameters<Renderer['frame']>[0]): void {
    if (!this.#options.isLive || frame.volatile !== 'delta' || frame.part !== 'text') return;
    if (frame.offset === 0 && this.#words !== undefined) {
      this.#breakLine();
      this.#put(this.paint('state', '(interrupted, once more)\n'));
      this.#words = undefined;
    }
    this.#speak(printable(frame.text));
  }

  notice(text: string): void {
    const { isLive, columns } = this.#options;
    this.line({ tone: 'state', text: isLive && columns ? wrapToColumns(text, columns()) : text });
  }

  /** What is being done from now on; nothing: there is no status line. */
  working(words: string | undefined): void {
    this.#status = words === undefined ? undefined : { words, since: this.#options.now() };
    if (words === undefined) this.#put('');
  }

  /** What keeps it from going on, until it is called with nothing. */
  obstructed(words: string | undefined): void {
    if (words === this.#obstacle?.words) return;
    this.#obstacle = words === undefined ? undefined : { words, since: this.#options.now() };
  }

  line(line: Line): void {
    this.#breakLine();
    const asProse = (text: string) => (this.#prose ? markdownProse(text, this.#options.columns) : text);
    const text = line.tone === 'output' ? shortOutput(line.text) : line.tone === 'speech' ? asProse(line.text) : line.text;
    this.#put(`${this.paint(line.tone, text)}\n`);
  }

  paint(tone: Line['tone'], text: string): string {
    return this.#options.isColoured && COLOURS[tone] !== '' && text !== '' ? `${COLOURS[tone]}${text}\u001b[0m` : text;
  }

  end(): void {
    clearInterval(this.#ticker);
    this.#breakLine();
    this.#put('');
  }

  #showEventLine(line: Line): void {
    const shown = line.tone === 'speech' ? this.#words?.trimStart() : undefined;
    if (shown === undefined) return this.line(line);
    this.#words = undefined;
    // The last pieces may come with the event alone.
    if (!line.text.startsWith(shown.trimEnd())) return this.line(line);
    const rest = line.text.slice(shown.trimEnd().length);
    if (rest.trim() !== '') this.#show(rest);
    this.#breakLine();
  }

  #speak(text: string): void {
    const words = this.#words === undefined ? text.trimStart() : text;
    if (words === '') return;
    this.#words = (this.#words ?? '') + words;
    this.#show(words);
  }

  #show(words: string): void {
    const shown = this.#prose ? this.#prose.write(words) : words;
    if (shown === '') return;
    this.#put(shown);
    this.#isMidLine = !shown.endsWith('\n');
  }

  #breakLine(): void {
    const held = this.#prose?.end() ?? '';
    if (held !== '') this.#put(held);
    if (held !== '' || this.#isMidLine) this.#put('\n');
    this.#isMidLine = false;
  }

  #put(text: string): void {
    if (this.#shownStatus !== '') this.#options.write(CLEAR_LINE);
    this.#shownStatus = '';
    if (text !== '') this.#options.write(text);
  }

  #showStatus(): void {
    if (this.#isMidLine || !this.#status) return;
    const { now, columns = () => 80, typed = () => '' } = this.#options;
    const status = this.#obstacle ?? this.#status;
    const seconds = Math.floor((now() - status.since) / 1_000);
    const words = typed() === '' ? `${status.words}${seconds > 0 ? `  ${seconds} s` : ''}` : `> ${typed()}`;
    const text = cutToColumns(words.replaceAll('\t', ' '), columns() - 1);
    if (text === this.#shownStatus) return;
    this.#options.write(`${CLEAR_LINE}${WRAP_OFF}${this.paint('state', text)}${WRAP_ON}`);
    this.#shownStatus = text;
  }
}

/** What is being done after this event; undefined when it changes nothing. */
function nextWords(event: Event): string | undefined {
  if ('action' in event && event.source === 'agent') return describeAct(event);
  return 'observation' in event && event.cause !== undefined ? 'Thinking' : undefined;
}

function shortOutput(text: string): string {
  const lines = text.split('\n');
  const rest = lines.length - HEAD - TAIL;
  const shown = rest > 1 ? [...lines.slice(0, HEAD), `… ${rest} more lines`, ...lines.slice(-TAIL)] : lines;
  return shown.map((line) => `  ${shortLine(line)}`).join('\n');
}
