const MAX = 500;

/** Shortens a line of unknown origin and length to its beginning, and says how much more there is. */
export function shortLine(line: string): string {
  return line.length > MAX ? `${line.slice(0, MAX).toWellFormed()}… ${line.length - MAX} more characters` : line;
}
