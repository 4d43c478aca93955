/**
 * Reads a patch as models write it: `*** Begin Patch` with sections `*** Add File:`, `*** Update File:`, `*** Delete File:`, or a unified
 * diff. Line numbers in it are hints at most; text around it, fences and missing ends are forgiven.
 */
import { EditFailure } from '../failures.ts';

export interface Hunk {
  /** Lines to go to first, from `@@ class A`, in order. */
  readonly anchors: readonly string[];
  /** Counted from 0, where a unified diff says so. */
  readonly line: number | undefined;
  readonly lines: readonly HunkLine[];
  /** It ends with the file. */
  readonly isAtEnd: boolean;
}

export interface HunkLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

export type FilePatch =
  | { readonly op: 'add'; readonly path: string; readonly text: string }
  | { readonly op: 'delete'; readonly path: string }
  | { readonly op: 'update'; readonly path: string; readonly movedTo: string | undefined; readonly hunks: readonly Hunk[] };

interface Section {
  op: FilePatch['op'];
  path: string;
  movedTo: string | undefined;
  readonly body: string[];
}

const HEADING = /^\*\*\* (Add|Update|Delete) File: *(.+?) *$/;
const MOVE = /^\*\*\* Move to: *(.+?) *$/;
const MARK = /^\*\*\* (?:Begin Patch|End Patch|End of Patch)\s*$/;
const GIT_NOISE =
  /^(?:diff --git |index [0-9a-f]+\.\.|(?:old|new|deleted file|new file) mode |similarity index |\\ No newline)|^rename (?:from|to) /;

/** Throws `EditFailure` for what is no patch. */
export function parsePatch(patch: string): readonly FilePatch[] {
  const sections: Section[] = [];
  const lines = patch.replaceAll('\r\n', '\n').split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const [at, line] of lines.entries()) {
    const [, op, path] = HEADING.exec(line) ?? [];
    const last = sections.at(-1);
    const moved = MOVE.exec(line)?.[1];
    if (op && path) sections.push({ op: op.toLowerCase() as Section['op'], path, movedTo: undefined, body: [] });
    else if (moved && last) last.movedTo = moved;
    else if (MARK.test(line) && last) {
      if (!/Begin/.test(line)) break;
    } else if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) sections.push(unified(line, lines[at + 1]!));
    else if (last && !(line.startsWith('+++ ') && lines[at - 1]?.startsWith('--- ')) && !GIT_NOISE.test(line)) last.body.push(line);
  }
  if (sections.length === 0)
    throw new EditFailure('It holds no section *** Add File:, *** Update File: or *** Delete File:, and is no unified diff.');
  return sections.map(toFilePatch);
}

function unified(from: string, to: string): Section {
  const [before, after] = [from, to].map((line) => line.slice(4).replace(/\t.*$/, '').trim());
  const name = (path: string): string => path.replace(/^[ab]\//, '');
  if (before === '/dev/null') return { op: 'add', path: name(after!), movedTo: undefined, body: [] };
  if (after === '/dev/null') return { op: 'delete', path: name(before!), movedTo: undefined, body: [] };
  const isSame = name(before!) === name(after!);
  return { op: 'update', path: name(before!), movedTo: isSame ? undefined : name(after!), body: [] };
}

function toFilePatch({ op, path, movedTo, body }: Section): FilePatch {
  if (op === 'delete') return { op, path };
  if (op === 'update') return { op, path, movedTo, hunks: toHunks(withoutFence(body), path, movedTo !== undefined) };
  const lines = withoutFence(body).filter((line) => !line.startsWith('@@'));
  const isMarked = lines.every((line) => line.startsWith('+') || line === '');
  const text = (isMarked ? lines.map((line) => line.slice(1)) : lines).map((line) => `${line}\n`).join('');
  return { op, path, text };
}

/** A fence that closed the whole patch, or the word that ended a heredoc. */
function withoutFence(lines: readonly string[]): readonly string[] {
  const end = lines.findLastIndex((line) => !/^(?:`{3,}|EOF|PATCH)?\s*$/.test(line));
  return lines.slice(0, end + 1);
}

function toHunks(lines: readonly string[], path: string, isMoved: boolean): readonly Hunk[] {
  const hunks: { anchors: string[]; line: number | undefined; lines: HunkLine[]; isAtEnd: boolean }[] = [];
  const begin = (): (typeof hunks)[number] => {
    const hunk = { anchors: [], line: undefined, lines: [], isAtEnd: false };
    hunks.push(hunk);
    return hunk;
  };
  for (const line of lines) {
    const numbers = /^@@+ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@+ ?(.*)$/.exec(line);
    const open = hunks.at(-1);
    if (line.startsWith('@@')) {
      const hunk = !open || open.lines.length > 0 ? begin() : open;
      const anchor = numbers ? '' : line.replace(/^@@+ ?/, '').replace(/ ?@@+$/, '');
      if (numbers) hunk.line = Number(numbers[1]) - 1;
      if (anchor.trim() !== '') hunk.anchors.push(anchor);
    } else if (/^\*\*\* End of File\s*$/.test(line)) (open ?? begin()).isAtEnd = true;
    else (open ?? begin()).lines.push(hunkLine(line));
  }
  const made = hunks.filter((hunk) => hunk.lines.some(({ sign }) => sign !== ' '));
  if (made.length === 0 && !isMoved)
    throw new EditFailure(`The section of ${path} changes nothing: it has no line that begins with + or -.`);
  return made;
}

/** A line without its sign is one that stays: models leave the blank before it out, above all of empty lines. */
function hunkLine(line: string): HunkLine {
  const sign = line[0];
  return sign === '+' || sign === '-' || sign === ' ' ? { sign, text: line.slice(1) } : { sign: ' ', text: line };
}
