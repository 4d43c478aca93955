/** The character that a key of the form `C-c` sends; nothing for ordinary text. */
export function keyFor(text: string): string | undefined {
  const letter = /^C-([a-zA-Z[\\\]^_])$/.exec(text.trim())?.[1];
  return letter === undefined ? undefined : String.fromCharCode(letter.toUpperCase().charCodeAt(0) - 64);
}
