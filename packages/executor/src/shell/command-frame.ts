import { randomBytes } from 'node:crypto';

/** Typed for each command: the shell takes the command from its private line, runs it and reports its end. Quoted words are no aliases. */
export const TRIGGER = ' { \\__tendon_begin; } 2>/dev/null; \\builtin \\eval "$__tendon_command"; { \\__tendon_end "$?"; } 2>/dev/null\n';
/** The trigger as terminals repeat it: ours leaves line ends as they are, one that a command has reset does not. */
export const ECHOES = [TRIGGER, TRIGGER.replace('\n', '\r\n')];

/** The ids by which one session knows its own marks and reports; a program that prints marks of its own does not guess them. */
export class CommandIds {
  readonly #nonce = randomBytes(8).toString('hex');
  /** Of the first prompt of a shell. */
  readonly start = `${this.#nonce}-start`;
  /** Of a shell inside the shell that takes the next commands. */
  readonly inner = `${this.#nonce}-inner`;
  /** Commands that became shells: when one of them ends, so has the inner shell that was in use. */
  readonly #outer = new Set<string>();
  #count = 0;

  next(): string {
    this.#count += 1;
    return `${this.#nonce}-${this.#count}`;
  }

  isOurs(id: string): boolean {
    return id.startsWith(this.#nonce);
  }

  /** Whether a mark or report with this id says something about the command. */
  concerns(command: string, id: string): boolean {
    return command === id || this.#outer.has(id);
  }

  becameShell(command: string): void {
    this.#outer.add(command);
  }

  /** There is another shell, and nothing inside it. */
  forgetShells(): void {
    this.#outer.clear();
  }
}
