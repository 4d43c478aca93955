/** At most `most` characters, the last one an ellipsis; never half a character. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(0, most - 1);
  return `${/[\uD800-\uDBFF]$/.test(end) ? end.slice(0, -1) : end}…`;
}

/** A path as people say it: inside the workspace without the workspace. */
export function shownPath(path: string): string {
  return path.startsWith('/workspace/') ? path.slice('/workspace/'.length) : path;
}

/** The first line that is not empty; at most 300 characters. */
export function firstLine(text: string): string {
  return cut(text.trimStart().split('\n', 1)[0]!.trimEnd(), 300);
}

/** What a message asks: its last sentence with a question mark, or else its first line; at most 120 characters, without the marks of Markdown. */
export function askedSentence(text: string): string {
  const asked = text
    .slice(-2_000)
    .split(/(?<=[.!?:])\s+|\n+/)
    .findLast((sentence) => sentence.endsWith('?'));
  return cut(plainWords(asked ?? firstLine(text)), 120);
}

/** A line without the marks of Markdown. */
export function plainWords(line: string): string {
  return line.replace(/[`*]|^[#>-]+ /g, '');
}

/** The last part of a path. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path;
}

/** The host of an address; what is no address stays as it is. */
export function hostName(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** Up to the first full stop, or the first line; at most 300 characters. */
export function firstSentence(text: string): string {
  const line = firstLine(text);
  return /^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line;
}

/** The first line of a command, without the change of folder before it: that takes the place of what matters. */
export function commandWords(command: string): string {
  const line = firstLine(command);
  return /^cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|]+)\s*&&\s*(.+)$/.exec(line)?.[1] ?? line;
}
