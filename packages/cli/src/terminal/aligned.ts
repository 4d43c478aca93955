import { columnsOf } from './columns.ts';

/** Rows of a table for people, one line each, every column as wide as its widest cell. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => columnsOf(row[column] ?? ''))));
  return rows
    .map((row) =>
      row
        .map((cell, column) => `${cell}${' '.repeat(Math.max(0, widths[column]! - columnsOf(cell)))}`)
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
