/** A value that cannot be printed: no `toString`, no `toJSON`, nothing enumerable. Only `reveal` gives it out. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Shorter values are placeholders for endpoints that ask for no key: hiding them would mangle ordinary text. */
  get isMaskable(): boolean {
    return this.#value.length >= MIN_SECRET_LENGTH;
  }

  reveal(): string {
    return this.#value;
  }
}

/** What is really secret is refused below this length, where it comes in. */
export const MIN_SECRET_LENGTH = 8;
