/** Text as it is shown: line ends are `\n`. */
export function shownText(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Lines as an editor counts them: a newline at the end ends the last line, it begins no other. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The line end that the file uses most; `\n` when it has none. */
export function lineEnd(text: string): '\n' | '\r\n' {
  const all = text.split('\n').length - 1;
  const windows = text.split('\r\n').length - 1;
  return windows * 2 > all ? '\r\n' : '\n';
}

/** The same text with this line end throughout. */
export function withLineEnd(text: string, end: '\n' | '\r\n'): string {
  return end === '\n' ? text : text.replaceAll(/\r?\n/g, '\r\n');
}
