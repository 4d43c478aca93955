export const MAX_SHOWN_CHARS = 16_000;

const CLIPPED = '[Clipped: the file goes on. Find the lines that matter with `grep -n` and view them with view_range.]';

/** The text with line numbers, as `cat -n` gives it: width 6, a tab, the line. Clipped at 16,000 characters of the raw text. */
export function numbered(text: string, title: string, firstLine = 1): string {
  const shown = text.length > MAX_SHOWN_CHARS ? text.slice(0, MAX_SHOWN_CHARS) + CLIPPED : text;
  return `Here's the result of running \`cat -n\` on ${title}:\n${numberedLines(shown.split('\n'), firstLine)}\n`;
}

export function numberedLines(lines: readonly string[], firstLine: number): string {
  return lines.map((line, index) => `${String(firstLine + index).padStart(6)}\t${line}`).join('\n');
}
