import type { FileHandle } from 'node:fs/promises';

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

/** Where the text after its first `lines` lines begins; the end of the text when it has no more. */
export function lineOffset(text: string, lines: number): number {
  let offset = 0;
  for (let count = 0; count < lines; count += 1) {
    const end = text.indexOf('\n', offset);
    if (end < 0) return text.length;
    offset = end + 1;
  }
  return offset;
}

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

export interface Section {
  readonly text: string;
  /** There is more of what was asked for than `maxBytes`. */
  readonly isClipped: boolean;
  /** Lines that were gone through: all of the file's when the section is not clipped and ends with the file. */
  readonly lines: number;
}

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** Lines `first` to `last`, counted from 1, inclusive, of a UTF-8 file that is too long to be held in memory. */
export async function linesOfHugeFile(file: FileHandle, first: number, last: number, maxBytes: number): Promise<Section> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let line = 1;
  for (let position = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return { text: Buffer.concat(chunks).toString('utf8'), isClipped: false, lines: line };
    position += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    for (let at = 0; at < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline < 0 ? chunk.length : newline + 1;
      if (line >= first) {
        chunks.push(chunk.subarray(at, end));
        bytes += end - at;
      }
      if (bytes > maxBytes) return { text: Buffer.concat(chunks).toString('utf8', 0, maxBytes), isClipped: true, lines: line };
      if (newline >= 0 && line === last) return { text: Buffer.concat(chunks).toString('utf8'), isClipped: false, lines: line };
      if (newline >= 0) line += 1;
      at = end;
    }
  }
}
