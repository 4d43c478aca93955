import { createNewestBytes } from './terminal/bounded-text.ts';
import { TerminalText } from './terminal/terminal-text.ts';

/** Shown to who takes the terminal over. */
const RECENT_BYTES = 16 * 1024;
const ERASED_LINE = Buffer.from('\r\u001b[K');

/** What a session's terminal shows beside the command in the foreground: between two commands, and to a person who watches. */
export class SessionOutput {
  readonly #chars: number | undefined;
  readonly #recent = createNewestBytes(RECENT_BYTES);
  /** Printed while nothing was in the foreground. */
  #between: TerminalText;
  /** A person is shown all of it. */
  onShown: ((bytes: Buffer) => void) | undefined;
  /** The shell says a prompt until its next command. */
  hasPrompt = false;

  constructor(chars: number | undefined) {
    this.#chars = chars;
    this.#between = new TerminalText(chars);
  }

  readonly show = (bytes: Buffer): void => {
    this.#recent.push(bytes);
    this.onShown?.(bytes);
  };

  between(bytes: Buffer): void {
    this.#between.write(bytes);
    this.show(bytes);
  }

  /** For the next command: what was printed before it, without the line that a prompt has begun. */
  forNext(): TerminalText {
    const text = this.#between;
    this.#between = new TerminalText(this.#chars);
    if (this.hasPrompt) {
      text.dropLine();
      this.show(ERASED_LINE);
    }
    this.hasPrompt = false;
    return text;
  }

  /** Of what was no command, it belongs to the next one. */
  putBack(text: TerminalText): void {
    this.#between = text;
  }

  recent(): Buffer {
    const bytes = this.#recent.take();
    this.#recent.push(bytes);
    return bytes;
  }
}
