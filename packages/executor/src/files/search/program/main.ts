/**
 * Searches where there is no ripgrep, and finds files by name: `node search.mjs <SearchRequest as JSON>`, in the folder to search. It is
 * a program of its own, so that a pattern that takes forever can be ended, and sees what the agent sees. Lines are printed as
 * `rg --null --line-number` prints them, names with a NUL behind each.
 */
import { readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { once } from 'node:events';
import type { SearchRequest } from '../search-request.ts';
import { globPattern } from './glob-pattern.ts';
import { walk } from './walk.ts';

/** As ripgrep's. */
const EXIT_WRONG_PATTERN = 2;
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const LOOKED_AT_BYTES = 8 * 1024;
const MAX_LINE_CHARS = 1_000;

async function search({ kind, pattern, include, target }: SearchRequest): Promise<void> {
  const root = process.cwd();
  const wanted = kind === 'glob' ? globPattern(pattern) : include === undefined ? undefined : globPattern(include);
  const line = kind === 'grep' ? lineFinder(pattern) : undefined;
  for (const path of target === '.' ? walk(root) : [`${root}/${target}`]) {
    const name = relative(root, path);
    if (wanted && !wanted.test(name)) continue;
    const out = line ? matchesIn(path, name, line) : `${name}\0`;
    if (out !== '' && !process.stdout.write(out)) await once(process.stdout, 'drain');
  }
}

/** `(?i)` before it ignores case, as ripgrep has it. */
function lineFinder(pattern: string): RegExp {
  const [, ignoresCase, rest = ''] = /^(\(\?i\))?(.*)$/s.exec(pattern)!;
  try {
    return new RegExp(rest, ignoresCase ? 'iu' : 'u');
  } catch {
    // Without the flag a needless escape is allowed, as ripgrep allows it.
    return new RegExp(rest, ignoresCase ? 'i' : '');
  }
}

function matchesIn(path: string, name: string, line: RegExp): string {
  const text = textOf(path, name);
  if (text === undefined) return '';
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines
    .flatMap((each, index) => (line.test(each) ? [`${name}\0${index + 1}:${each.slice(0, MAX_LINE_CHARS).toWellFormed()}\n`] : []))
    .join('');
}

/** Nothing for what is no text or cannot be read; what is too long is reported. */
function textOf(path: string, name: string): string | undefined {
  try {
    if (statSync(path).size > MAX_FILE_BYTES) {
      process.stderr.write(`${name} has more than 32 MiB and was not searched\n`);
      return undefined;
    }
    const bytes = readFileSync(path);
    return bytes.subarray(0, LOOKED_AT_BYTES).includes(0) ? undefined : bytes.toString('utf8');
  } catch {
    return undefined;
  }
}

try {
  await search(JSON.parse(process.argv[2] ?? '') as SearchRequest);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = EXIT_WRONG_PATTERN;
}
