/** Where in the text something stands; both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The text is not of the language. Thrown and caught inside `parseActions` only. */
export class LanguageError extends Error {
  constructor(message: string, { line, column }: Position) {
    super(`line ${line}, column ${column}: ${message}`);
  }
}
