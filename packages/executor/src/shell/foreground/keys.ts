const ESCAPE = '\u001b';

/** Names as people and programs write them, and what a terminal sends for them. */
const NAMED: Readonly<Record<string, string>> = {
  ...{ Escape: ESCAPE, Esc: ESCAPE, Enter: '\r', Return: '\r', Tab: '\t', Backspace: '\u007f' },
  ...{ Up: `${ESCAPE}[A`, Down: `${ESCAPE}[B`, Right: `${ESCAPE}[C`, Left: `${ESCAPE}[D`, Home: `${ESCAPE}[H`, End: `${ESCAPE}[F` },
  ...{ Delete: `${ESCAPE}[3~`, PageUp: `${ESCAPE}[5~`, PageDown: `${ESCAPE}[6~` },
};

/**
 * The characters that a key sends: `C-c`, or its name (`Escape`, `Enter`, `Up`, …); nothing for ordinary text. A name that is
 * meant as text ends with a newline.
 */
export function keyFor(text: string): string | undefined {
  const letter = /^C-([a-zA-Z[\\\]^_])$/.exec(text.trim())?.[1];
  if (letter !== undefined) return String.fromCharCode(letter.toUpperCase().charCodeAt(0) - 64);
  return Object.hasOwn(NAMED, text) ? NAMED[text] : undefined;
}
