/**
 * Owns the line that a person types: a prompt while something is expected, and silence while the agent works, when the text that is typed
 * stands in the status line instead.
 *
 * CI1  What is pasted is one line here, whatever lines it has: their ends stand as `LINE_END`, and are ends of lines again in what is sent.
 */
import { createInterface, type Interface } from 'node:readline';
import { StringDecoder } from 'node:string_decoder';
import { Transform, Writable } from 'node:stream';

export interface ChatInputOptions {
  readonly onLine: (line: string) => void;
  /** Ctrl-C, with the text of the line. */
  readonly onInterrupt: (line: string) => void;
  /** The end of the input: Ctrl-D, or a terminal that went away. */
  readonly onEnd: () => void;
  readonly complete: (line: string) => [readonly string[], string];
}

/** Turns a terminal's marking of pasted text on and off. */
const MARKING = '\u001b[?2004h';
const NOT_MARKING = '\u001b[?2004l';
const PASTED = '\u001b[200~';
const PASTED_TO = '\u001b[201~';
/* oxlint-disable no-control-regex -- control characters are what this is about */
const MARK = /(\u001b\[20[01]~)/;
const BEGUN_MARK = /\u001b(?:\[(?:2(?:0[01]?)?)?)?$/;
const BEGUN_PASTE = /\u001b\[20[01]?$/;
/** Of a line that was pasted. */
export const LINE_END = '⏎';

export class ChatInput {
  readonly #input: NodeJS.ReadStream;
  readonly #output: NodeJS.WriteStream;
  readonly #lines: Interface;
  #isQuiet = true;
  #isHidden = false;
  #prompt = '';

  constructor(input: NodeJS.ReadStream, output: NodeJS.WriteStream, { onLine, onInterrupt, onEnd, complete }: ChatInputOptions) {
    this.#input = input;
    this.#output = output;
    const shown = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!this.#isQuiet) output.write(chunk);
        done();
      },
    });
    Object.defineProperties(shown, { columns: { get: () => output.columns }, isTTY: { value: true } });
    this.#lines = createInterface({
      input: pastedAsOne(input),
      output: shown,
      terminal: true,
      prompt: '',
      historySize: 500,
      completer: (line: string) => complete(line) as [string[], string],
    });
    output.write(MARKING);
    this.#lines.on('line', (line) => onLine(line.replaceAll(LINE_END, '\n').replace(/\n+$/, '')));
    this.#lines.on('history', (history) => void (this.#isHidden && history.shift()));
    this.#lines.on('SIGINT', () => onInterrupt(this.#lines.line));
    this.#lines.on('close', onEnd);
  }

  /** The text that is typed but not sent. */
  get typed(): string {
    return this.#isHidden ? '' : this.#lines.line;
  }

  /** Shows the prompt with what is typed already, or with `text` to begin with. */
  ask(prompt: string, text?: string): void {
    this.#reveal();
    this.#isQuiet = false;
    if (prompt !== this.#prompt) this.#lines.setPrompt(prompt);
    this.#prompt = prompt;
    if (text !== undefined) this.clear();
    this.#lines.prompt(true);
    if (text) this.#lines.write(text);
  }

  /** Reads a line that is neither shown nor remembered. */
  askHidden(prompt: string): void {
    this.clear();
    this.#isQuiet = true;
    this.#isHidden = true;
    this.#prompt = prompt;
    this.#output.write(prompt);
  }

  /** Text that was typed unseen is not shown later. */
  #reveal(): void {
    if (!this.#isHidden) return;
    this.clear();
    this.#isHidden = false;
    this.#output.write('\n');
  }

  /** What is written stands above the prompt, and what is typed stays. */
  above(write: () => void): void {
    const rows = this.#isQuiet ? 0 : this.#lines.getCursorPos().rows;
    if (this.#isHidden) this.#output.write('\n');
    else if (!this.#isQuiet) this.#output.write(`\r${'\u001b[A'.repeat(rows)}\u001b[0J`);
    write();
    if (this.#isHidden) this.#output.write(this.#prompt);
    else if (!this.#isQuiet) {
      this.#output.write('\n'.repeat(rows)); // from where it was, it is drawn again
      this.#lines.prompt(true);
    }
  }

  /** Stops showing anything. */
  hush(): void {
    this.#reveal();
    this.#isQuiet = true;
  }

  clear(): void {
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
  }

  close(): void {
    this.#lines.removeAllListeners('close');
    this.#lines.close();
    this.#output.write(NOT_MARKING);
    this.#input.unpipe();
    this.#input.pause();
  }
}

/** CI1. */
function pastedAsOne(input: NodeJS.ReadStream): NodeJS.ReadStream {
  const decoder = new StringDecoder('utf8');
  let isPasted = false;
  let held = '';
  const take = (part: string): void => {
    if (part === PASTED || part === PASTED_TO) isPasted = part === PASTED;
    else if (part !== '') keys.push(isPasted ? part.replaceAll(/\r\n?|\n/g, LINE_END).replaceAll('\t', '  ') : part);
  };
  const keys = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const parts = (held + decoder.write(chunk)).split(MARK);
      const last = parts.at(-1)!;
      for (const part of parts.slice(0, -1)) take(part);
      // A mark may arrive in two pieces. A single key is not held back.
      held = (isPasted ? BEGUN_MARK : BEGUN_PASTE).exec(last)?.[0] ?? '';
      take(last.slice(0, last.length - held.length));
      done();
    },
  });
  const setRawMode = (isRaw: boolean) => void input.setRawMode(isRaw);
  return input.pipe(Object.assign(keys, { setRawMode, isTTY: true })) as unknown as NodeJS.ReadStream;
}
