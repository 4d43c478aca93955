import { cpus, release } from 'node:os';
import { at } from './at.ts';
import type { Figures, Row } from './row.ts';

/** Markdown: a line for each row, a column for each subject. */
export function figureTable(rows: readonly Row[], measured: ReadonlyMap<string, ReadonlyMap<Row, Figures>>): string {
  const names = [...measured.keys()];
  return [
    `| figure (minimum / median, where nothing else is named) | ${names.join(' | ')} |`,
    `|---|${names.map(() => '---|').join('')}`,
    ...rows.map((row) => `| ${row.title} | ${names.map((name) => cell(row, measured.get(name)?.get(row))).join(' | ')} |`),
  ].join('\n');
}

/** When and where it was measured. */
export function machineLine(rounds: number): string {
  const processors = `${cpus().length} cores (${cpus()[0]?.model.trim()})`;
  return `${new Date().toISOString().slice(0, 10)}, ${processors}, Linux ${release()}, Node ${process.versions.node}, ${rounds} rounds`;
}

function cell({ write = minimumAndMedian }: Row, figures: Figures | undefined): string {
  return figures?.length ? write(figures) : '–';
}

function minimumAndMedian(figures: Figures): string {
  return figures.length === 1 ? short(figures[0] ?? Number.NaN) : `${short(Math.min(...figures))} / ${short(at(figures, 0.5))}`;
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
