/** Where the hunks of a patch belong in a text. Blanks at the ends of lines, then around them, are forgiven where nothing fits exactly. */
import { EditFailure } from '../failures.ts';
import { linesOf } from '../lines.ts';
import { closestLines } from './find-text.ts';
import type { Hunk } from './parse-patch.ts';

/** Lines of the text, counted from 0, `end` exclusive, and what takes their place. */
export interface LineChange {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** In order, without overlaps. Throws `EditFailure` that names the hunk and the lines most like it. */
export function placeHunks(text: string, hunks: readonly Hunk[], path: string): readonly LineChange[] {
  const lines = linesOf(text).map((line) => line.replace(/\r$/, ''));
  const changes: LineChange[] = [];
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    const name = `Hunk ${index + 1} of ${path}`;
    const old = hunk.lines.flatMap(({ sign, text: line }) => (sign === '+' ? [] : [line]));
    const base = afterAnchors(lines, hunk, from, name);
    const start = old.length === 0 ? insertionPoint(hunk, base, lines.length) : placeOf(lines, old, hunk, { base, name, text });
    const changed = changesOf(lines, hunk, start);
    const clash = changes.find((other) => changed.some((each) => each.start < other.end && other.start < each.end));
    if (clash) throw new EditFailure(`${name} changes the same lines as one before it.`);
    changes.push(...changed);
    from = start + old.length;
  }
  return changes.toSorted((a, b) => a.start - b.start);
}

function afterAnchors(lines: readonly string[], { anchors }: Hunk, from: number, name: string): number {
  let at = from;
  for (const anchor of anchors) {
    const wanted = anchor.trim();
    const seek = (begin: number): number => lines.findIndex((line, index) => index >= begin && line.trim() === wanted);
    const found = seek(at) >= 0 ? seek(at) : seek(0);
    if (found < 0) throw new EditFailure(`${name}: no line is \`${wanted}\`, which its @@ names.${closestLines(lines.join('\n'), anchor)}`);
    at = found + 1;
  }
  return at;
}

/** Of lines that stand nowhere yet: at the line that a diff names, behind the anchor, else at the end of the file. */
function insertionPoint({ anchors, line, isAtEnd }: Hunk, base: number, count: number): number {
  if (line !== undefined) return Math.min(line + 1, count);
  return anchors.length > 0 && !isAtEnd ? base : count;
}

const FORGIVING: readonly ((line: string) => string)[] = [(line) => line, (line) => line.trimEnd(), (line) => line.trim()];

function placeOf(
  lines: readonly string[],
  old: readonly string[],
  hunk: Hunk,
  { base, name, text }: { readonly base: number; readonly name: string; readonly text: string },
): number {
  // An empty line at its end may be one that the model put between sections.
  const shorter = old.length > 1 && old.at(-1) === '' && hunk.lines.at(-1)?.sign === ' ' ? [old.slice(0, -1)] : [];
  for (const wanted of [old, ...shorter]) {
    for (const as of FORGIVING) {
      const places = placesOf(lines, wanted, as).filter((at) => !hunk.isAtEnd || at + wanted.length === lines.length);
      const chosen = choose(places, hunk, base);
      if (chosen !== undefined) return chosen;
      if (places.length > 1) {
        const where = places.map((at) => at + 1).join(', ');
        throw new EditFailure(
          `${name} fits more than once, at lines ${where}. Take in more lines around it, or name the function after @@.`,
        );
      }
    }
  }
  const sought = old.join('\n');
  throw new EditFailure(`${name} does not fit: these lines are not in the file:\n${sought}${closestLines(text, sought)}`);
}

function placesOf(lines: readonly string[], wanted: readonly string[], as: (line: string) => string): readonly number[] {
  const sought = wanted.map(as);
  const all = lines.map(as);
  return all.flatMap((line, at) => (line === sought[0] && sought.every((each, offset) => all[at + offset] === each) ? [at] : []));
}

/** The only place, the one nearest to the line that a diff names, or the first behind an anchor. */
function choose(places: readonly number[], { line, anchors }: Hunk, base: number): number | undefined {
  if (places.length <= 1) return places[0];
  if (line !== undefined) return places.toSorted((a, b) => Math.abs(a - line) - Math.abs(b - line))[0];
  const behind = places.filter((at) => at >= base);
  return anchors.length > 0 || behind.length === 1 ? behind[0] : undefined;
}

/** Each run of removed and added lines: what stays is left as the file has it. */
function changesOf(lines: readonly string[], hunk: Hunk, start: number): LineChange[] {
  const changes: { start: number; end: number; lines: string[] }[] = [];
  let at = Math.min(start, lines.length);
  let open: (typeof changes)[number] | undefined;
  for (const { sign, text } of hunk.lines) {
    if (sign === ' ') {
      open = undefined;
      at += 1;
      continue;
    }
    if (!open) changes.push((open = { start: at, end: at, lines: [] }));
    if (sign === '+') open.lines.push(text);
    else open.end = at += 1;
  }
  return changes;
}
