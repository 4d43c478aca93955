const MAX = 500;

/** A line that somebody else wrote, which may have no end: its beginning, and how much more there is. */
export function shortLine(line: string): string {
  return line.length > MAX ? `${line.slice(0, MAX).toWellFormed()}… ${line.length - MAX} more characters` : line;
}
