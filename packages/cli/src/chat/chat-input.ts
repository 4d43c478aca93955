/**
 * Owns the line that a person types: a prompt while something is expected, and silence while the agent works, when the text that is typed
 * stands in the status line instead.
 */
import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';

export interface ChatInputOptions {
  readonly onLine: (line: string) => void;
  /** Ctrl-C, with what stood in the line. */
  readonly onInterrupt: (line: string) => void;
  /** The end of the input: Ctrl-D, or a terminal that went away. */
  readonly onEnd: () => void;
  readonly complete: (line: string) => [readonly string[], string];
}

export class ChatInput {
  readonly #lines: Interface;
  #isQuiet = true;
  #prompt = '';

  constructor(input: NodeJS.ReadStream, output: NodeJS.WriteStream, { onLine, onInterrupt, onEnd, complete }: ChatInputOptions) {
    const shown = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!this.#isQuiet) output.write(chunk);
        done();
      },
    });
    Object.defineProperties(shown, { columns: { get: () => output.columns }, isTTY: { value: true } });
    this.#lines = createInterface({
      input,
      output: shown,
      terminal: true,
      prompt: '',
      historySize: 500,
      completer: (line: string) => complete(line) as [string[], string],
    });
    this.#lines.on('line', onLine);
    this.#lines.on('SIGINT', () => onInterrupt(this.#lines.line));
    this.#lines.on('close', onEnd);
  }

  /** What is typed and not sent. */
  get typed(): string {
    return this.#lines.line;
  }

  /** Shows the prompt with what is typed already, or with `text` to begin with. */
  ask(prompt: string, text?: string): void {
    this.#isQuiet = false;
    if (prompt !== this.#prompt) this.#lines.setPrompt(prompt);
    this.#prompt = prompt;
    if (text !== undefined) this.clear();
    this.#lines.prompt(true);
    if (text) this.#lines.write(text);
  }

  /** From now on nothing of it is shown. */
  hush(): void {
    this.#isQuiet = true;
  }

  clear(): void {
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
  }

  close(): void {
    this.#lines.removeAllListeners('close');
    this.#lines.close();
  }
}
