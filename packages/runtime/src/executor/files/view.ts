import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EditFailure } from './edit-failure.ts';
import { shownText } from './lines.ts';
import { numbered } from './numbered.ts';
import { readTextFile } from './text-file.ts';

const MAX_ENTRIES = 4000;

/** What `view` shows of a file or folder. Throws `EditFailure`. `range` counts from 1, inclusive, −1 to the end. */
export async function view(path: string, range: unknown): Promise<string> {
  if ((await stat(path)).isDirectory()) {
    if (range !== null && range !== undefined) {
      throw new EditFailure('The `view_range` parameter is not allowed when `path` points to a directory.');
    }
    return viewFolder(path);
  }
  const text = shownText((await readTextFile(path)).text);
  return range === null || range === undefined ? numbered(text, path) : viewRange(path, text, range);
}

function viewRange(path: string, text: string, range: unknown): string {
  if (!Array.isArray(range) || range.length !== 2 || !range.every((line) => Number.isInteger(line))) {
    throw new EditFailure('view_range must be a list of two whole numbers.');
  }
  const [first, last] = range as [number, number];
  const lines = text.split('\n'); // the empty line after a final newline is one that can be shown
  const count = lines.length;
  const fail = (why: string): EditFailure => new EditFailure(`view_range [${first}, ${last}]: ${why}`);
  if (first < 1 || first > count) throw fail(`the first line must be from 1 to ${count}.`);
  if (last !== -1 && last < first) {
    throw fail('the last line is before the first.');
  }
  const note = last > count ? `[The file ends at line ${count}.]\n` : '';
  return note + numbered(lines.slice(first - 1, last === -1 ? count : last).join('\n'), path, first);
}

async function viewFolder(path: string): Promise<string> {
  const shown: string[] = [];
  let hidden = 0;
  const isFull = (): boolean => shown.length >= MAX_ENTRIES;

  async function add(folder: string, depth: number): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // not ours to read: shown as empty
    if (depth === 1) hidden = entries.filter((entry) => entry.name.startsWith('.')).length;
    for (const entry of entries.toSorted((a, b) => compareNames(a.name, b.name))) {
      if (entry.name.startsWith('.') || isFull()) continue;
      const full = join(folder, entry.name);
      const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && (await leadsToFolder(full)));
      shown.push(isFolder ? `${full}/` : full);
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
