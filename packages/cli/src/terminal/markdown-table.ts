import { columnsOf, lettersOf } from './columns.ts';

/** A row of a table; the first and the last bar are its edges. */
const ROW = /^ {0,3}\|/;
/** Larger tables are shown as they were written, so that only a bounded part of a text is held back. */
const MAX_ROWS = 200;
const MAX_CHARS = 50_000;
const MIN_WIDTH = 4;
const GAP = '  ';

/**
 * Rows of a table until it is complete: how wide its columns are is known then. Owns the rows that are not shown yet.
 */
export class MarkdownTable {
  readonly #inline: (text: string) => string;
  readonly #columns: () => number;
  #rows: readonly string[] = [];
  #chars = 0;

  /** `inline` renders the text of a cell; `columns` is the width of the terminal. */
  constructor(inline: (text: string) => string, columns: () => number) {
    this.#inline = inline;
    this.#columns = columns;
  }

  get isOpen(): boolean {
    return this.#rows.length > 0;
  }

  /** Whether the line, which may be incomplete, can be a row. */
  mayHave(begun: string): boolean {
    return ROW.test(begun) || (this.isOpen && /^ {0,3}$/.test(begun));
  }

  /** False if the complete line is not one of its rows. */
  take(line: string): boolean {
    const isFull = this.#rows.length >= MAX_ROWS || this.#chars + line.length > MAX_CHARS;
    const isNone = !ROW.test(line) || isFull || (this.#rows.length === 1 && !isRule(line));
    if (isNone) return false;
    this.#rows = [...this.#rows, line];
    this.#chars += line.length;
    return true;
  }

  /** The rows so far, without a final line end. Rows that do not make a table are returned as lines of text. */
  end(): string {
    const [head = '', ruled, ...rows] = this.#rows;
    this.#rows = [];
    this.#chars = 0;
    if (ruled === undefined) return this.#inline(head);
    const cells = [head, ...rows].map((row) => cellsOf(row).map(this.#inline));
    const alignments = cellsOf(ruled).map(alignmentOf);
    const count = Math.max(...cells.map(({ length }) => length), alignments.length);
    const widths = fitted(
      Array.from({ length: count }, (_one, at) => Math.max(1, ...cells.map((row) => shownColumns(row[at] ?? '')))),
      this.#columns() - GAP.length * (count - 1) - 1,
    );
    const line = widths.map((width) => '─'.repeat(width)).join(GAP);
    const [first, ...others] = cells.map((row) => rowLines(row, widths, alignments).join('\n'));
    return [`${BOLD[0]}${first!.replaceAll('\n', `${BOLD[1]}\n${BOLD[0]}`)}${BOLD[1]}`, `${DIM[0]}${line}${DIM[1]}`, ...others].join('\n');
  }
}

type Alignment = 'left' | 'right' | 'center';

const BOLD = ['\u001b[1m', '\u001b[22m'] as const;
const DIM = ['\u001b[2m', '\u001b[22m'] as const;

/** A bar behind a backslash, or within a span of code, is text. */
function cellsOf(row: string): readonly string[] {
  const inner = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  const parts = inner.match(/(?:\\.|`[^`]*`|[^|])+|(?<=\||^)(?=\||$)/gu) ?? [];
  return parts.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function isRule(row: string): boolean {
  return cellsOf(row).every((cell) => /^:?-+:?$/.test(cell));
}

function alignmentOf(rule: string): Alignment {
  if (!rule.endsWith(':')) return 'left';
  return rule.startsWith(':') ? 'center' : 'right';
}

/** Narrows the widest columns first, down to a readable width; on an even narrower terminal, lines are longer than it. */
function fitted(widths: readonly number[], space: number): readonly number[] {
  const fair = [...widths];
  let over = fair.reduce((sum, width) => sum + width, 0) - space;
  while (over > 0) {
    const widest = Math.max(...fair);
    if (widest <= MIN_WIDTH) break;
    const among = fair.filter((width) => width === widest).length;
    const next = Math.max(MIN_WIDTH, ...fair.filter((width) => width < widest));
    const less = Math.max(1, Math.min(widest - next, Math.floor(over / among)));
    for (const [at, width] of fair.entries()) {
      if (width !== widest || over <= 0) continue;
      fair[at] = width - less;
      over -= less;
    }
  }
  return fair;
}

function rowLines(row: readonly string[], widths: readonly number[], alignments: readonly Alignment[]): readonly string[] {
  const wrapped = widths.map((width, at) => wrap(row[at] ?? '', width));
  const height = Math.max(...wrapped.map(({ length }) => length));
  return Array.from({ length: height }, (_one, line) =>
    widths
      .map((width, at) => padded(wrapped[at]![line] ?? '', width, alignments[at] ?? 'left'))
      .join(GAP)
      .trimEnd(),
  );
}

function padded(text: string, width: number, alignment: Alignment): string {
  const space = Math.max(0, width - shownColumns(text));
  const before = alignment === 'left' ? 0 : alignment === 'right' ? space : Math.floor(space / 2);
  return `${' '.repeat(before)}${text}${' '.repeat(space - before)}`;
}

// oxlint-disable-next-line no-control-regex -- escape codes are what this is about
const STYLE = /\u001b\[(\d+)m/g;
// oxlint-disable-next-line no-control-regex -- escape codes are what this is about
const PIECE = /\u001b\[\d+m|\s+|[^\s\u001b]+/gu;
/** What ends each style. */
const ENDS: Readonly<Record<string, string>> = { 1: '22', 2: '22', 3: '23', 4: '24', 9: '29', 36: '39' };

function shownColumns(text: string): number {
  return columnsOf(text.replaceAll(STYLE, ''));
}

/** At blanks where there are some; a style that is open at the end of a line is closed there, and opened again on the next. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  let open: readonly string[] = [];
  const end = (): void => {
    lines.push(`${line.trimEnd()}${open.map((code) => `\u001b[${ENDS[code]}m`).join('')}`);
    line = open.map((code) => `\u001b[${code}m`).join('');
    used = 0;
  };
  for (const [piece] of text.matchAll(PIECE)) {
    const [, code] = new RegExp(STYLE.source).exec(piece) ?? [];
    if (code !== undefined) {
      open = ENDS[code] === undefined ? open.filter((each) => ENDS[each] !== code) : [...open, code];
      line += piece;
      continue;
    }
    const columns = columnsOf(piece);
    if (piece.trim() === '' && (used === 0 || used + columns > width)) continue;
    if (used > 0 && used + columns > width) end();
    for (const { segment } of columns > width ? lettersOf(piece) : [{ segment: piece }]) {
      const taken = columnsOf(segment);
      if (used > 0 && used + taken > width) end();
      line += segment;
      used += taken;
    }
  }
  end();
  return lines;
}
