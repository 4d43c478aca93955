/** What a search found, as the model is shown it: bounded, with words about what is left out. */

export interface Found {
  /** As `rg --null --line-number` prints it; its last piece may be cut. */
  readonly printed: string;
  /** Why the search was ended before it was through. */
  readonly ended: 'time' | 'size' | undefined;
  /** What could not be searched, in the program's words. */
  readonly words: string;
}

interface Asked {
  readonly path: string;
  readonly pattern: string;
}

const MAX_LINES = 200;
const MAX_PATHS = 200;
const MAX_LINE_CHARS = 300;
const MAX_CHARS = 16_000;

export function grepText(found: Found, { path, pattern }: Asked): string {
  const matches = matchesOf(found);
  if (matches.length === 0) return withEnd(`No line in ${path} matches ${pattern}`, found, '');
  const shown: string[] = [];
  let count = 0;
  let chars = 0;
  for (const { name, line, text } of matches) {
    const isFirst = matches[count - 1]?.name !== name;
    const words = `${isFirst ? `${name}\n` : ''}${line}: ${clipped(text)}`;
    chars += words.length + 1;
    if (count === MAX_LINES || chars > MAX_CHARS) break;
    shown.push(words);
    count += 1;
  }
  const files = (some: typeof matches): number => new Set(some.map(({ name }) => name)).size;
  const head = `${counted(matches.length, 'matching line', found)} in ${counted(files(matches), 'file')} of ${path}`;
  const rest = matches.slice(count);
  const more = `${counted(rest.length, 'more matching line', found)} in ${counted(files(rest), 'file')}`;
  return withEnd(`${head}:\n${shown.join('\n')}`, found, rest.length === 0 ? '' : more);
}

export function globText(found: Found, { path, pattern }: Asked): string {
  const names = found.printed.split('\0').slice(0, -1);
  if (names.length === 0) return withEnd(`No file in ${path} matches ${pattern}`, found, '');
  let chars = 0;
  const shown = names.slice(0, MAX_PATHS).filter((name) => (chars += name.length + 1) <= MAX_CHARS);
  const rest = names.length - shown.length;
  const head = `${counted(names.length, 'file', found)} of ${path}:`;
  return withEnd([head, ...shown.map(oneLine)].join('\n'), found, rest === 0 ? '' : counted(rest, 'more file', found));
}

function withEnd(text: string, { ended, words }: Found, more: string): string {
  const notes = [
    more && `${more} not shown: narrow the pattern or the path.`,
    ended === 'time' && 'The search took too long and was ended: narrow the path.',
    ended === 'size' && 'There is more than can be counted.',
    words,
  ].filter(Boolean);
  return [text, ...notes.map((note) => `[${note}]`)].join('\n');
}

interface Match {
  readonly name: string;
  readonly line: string;
  readonly text: string;
}

/** `name NUL line : text`; a name may hold a newline, so a piece is one up to the newline behind its text. */
function matchesOf({ printed }: Found): Match[] {
  return [...printed.matchAll(/([^\0]+)\0(\d+):([^\n]*)\n/g)].map(([, name = '', line = '', text = '']) => ({
    name: oneLine(name.replace(/^\.\//, '')),
    line,
    text,
  }));
}

function counted(count: number, what: string, found?: Found): string {
  const least = found?.ended ? 'at least ' : '';
  return `${least}${count} ${what}${count === 1 ? '' : 's'}`;
}

function clipped(text: string): string {
  const line = text.replace(/\r$/, '');
  return line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS).toWellFormed()}…` : line;
}

function oneLine(name: string): string {
  return name.replaceAll('\n', String.raw`\n`);
}
