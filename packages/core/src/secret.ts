/** A value that cannot be printed: no `toString`, no `toJSON`, nothing enumerable. Only `reveal` gives it out. */
export class Secret {
  readonly #value: string;

  /** Values under 8 characters are refused: masking them would mangle ordinary text. */
  constructor(value: string) {
    if (value.length < MIN_SECRET_LENGTH) throw new RangeError(`a secret needs at least ${MIN_SECRET_LENGTH} characters`);
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }
}

export const MIN_SECRET_LENGTH = 8;
