import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from './disk.ts';
import { EditFailure } from './failures.ts';
import { shownText, MAX_SHOWN_CHARS, numbered, linesOfHugeFile } from './lines.ts';
import { readMedia } from './content-type.ts';
import { decodeText, MAX_FILE_BYTES } from './text-file.ts';

const MAX_ENTRIES = 4000;

/** What `view` shows of a file or folder. Throws `EditFailure`. `range` counts from 1, inclusive, −1 to the end. */
export async function view(disk: Disk, path: string, range: unknown): Promise<string> {
  if ((await stat(path)).isDirectory()) {
    if (range !== null && range !== undefined) {
      throw new EditFailure('The `view_range` parameter is not allowed when `path` points to a directory.');
    }
    return viewFolder(disk, path);
  }
  await using file = await disk.open(path);
  const media = await readMedia(file);
  if (media !== undefined) return media;
  const wanted = range === null || range === undefined ? undefined : rangeOf(range);
  if ((await file.stat()).size > MAX_FILE_BYTES) {
    const [first, last] = wanted ?? [1, -1];
    const { text, isClipped, lines } = await linesOfHugeFile(file, first, last === -1 ? Infinity : last, 4 * MAX_SHOWN_CHARS);
    if (text === '' && !isClipped) throw outside(first, last, lines);
    return numbered(shownText(text), path, first);
  }
  const text = shownText((await decodeText(await file.readFile())).text);
  return wanted === undefined ? numbered(text, path) : viewLines(path, text, wanted);
}

function rangeOf(range: unknown): readonly [number, number] {
  if (!Array.isArray(range) || range.length !== 2 || !range.every((line) => Number.isInteger(line))) {
    throw new EditFailure('view_range must be a list of two whole numbers.');
  }
  const [first, last] = range as [number, number];
  if (last !== -1 && last < first) throw new EditFailure(`view_range [${first}, ${last}]: the last line is before the first.`);
  return [first, last];
}

function outside(first: number, last: number, count: number): EditFailure {
  return new EditFailure(`view_range [${first}, ${last}]: the first line must be from 1 to ${count}.`);
}

function viewLines(path: string, text: string, [first, last]: readonly [number, number]): string {
  const lines = text.split('\n'); // the empty line after a final newline is one that can be shown
  const count = lines.length;
  if (first < 1 || first > count) throw outside(first, last, count);
  const note = last > count ? `[The file ends at line ${count}.]\n` : '';
  return note + numbered(lines.slice(first - 1, last === -1 ? count : last).join('\n'), path, first);
}

async function viewFolder(disk: Disk, path: string): Promise<string> {
  const shown: string[] = [];
  let hidden = 0;
  const isFull = (): boolean => shown.length >= MAX_ENTRIES;

  async function add(folder: string, depth: number): Promise<void> {
    const listing = disk.list(folder);
    // Below the one that was asked for, what is not ours to read is shown as empty.
    const entries = await (depth === 1 ? listing : listing.catch(() => []));
    if (depth === 1) hidden = entries.filter((entry) => entry.name.startsWith('.')).length;
    for (const entry of entries.toSorted((a, b) => compareNames(a.name, b.name))) {
      if (entry.name.startsWith('.') || isFull()) continue;
      const full = join(folder, entry.name);
      const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && (await leadsToFolder(full)));
      const line = full.replaceAll('\n', String.raw`\n`); // a line of the list is one entry
      shown.push(isFolder ? `${line}/` : line);
      if (entry.isDirectory() && depth < 2) await add(full, depth + 1);
    }
  }
  await add(path, 1);
  const base = path === '/' ? '/' : `${path}/`;
  const title = `Here's the files and directories up to 2 levels deep in ${path}, excluding hidden items:\n${[base, ...shown].join('\n')}`;
  const more = isFull() ? `\n[Only the first ${MAX_ENTRIES} entries are shown.]` : '';
  if (hidden === 0) return title + more;
  return `${title}${more}\n\n${hidden} hidden files/directories in this directory are excluded. ls -la ${path} shows them.`;
}

function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function leadsToFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
