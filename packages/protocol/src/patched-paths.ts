const HEADING = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to):/;

/**
 * Every path that a patch of `apply_patch` names as a file to change, in the order of the text; what applies it changes no other. Both
 * forms are read in every line, also where the other has begun, so there may be more of them than files that are changed.
 */
export function patchedPaths(patch: string): readonly string[] {
  const lines = patch.replaceAll('\r\n', '\n').split('\n');
  const paths = new Set<string>();
  for (const [at, line] of lines.entries()) {
    const heading = HEADING.exec(line)?.[0];
    if (heading !== undefined) paths.add(withoutBlanks(line.slice(heading.length)));
    if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) for (const side of [line, lines[at + 1]!]) addSide(paths, side);
  }
  paths.delete('');
  return [...paths];
}

/** By hand: a pattern would try each of many blanks as the first of the last ones. One blank alone is a name. */
function withoutBlanks(text: string): string {
  let [from, to] = [0, text.length];
  while (text[from] === ' ') from += 1;
  while (to > from && text[to - 1] === ' ') to -= 1;
  return from < to ? text.slice(from, to) : text.slice(0, 1);
}

function addSide(paths: Set<string>, line: string): void {
  const text = line.slice(4);
  // A time stands behind a tab; what looks for its end gives up at these.
  const sides = /[\r\u2028\u2029]/.test(text) ? [text, text.split('\t', 1)[0]!] : [text.split('\t', 1)[0]!];
  for (const path of sides.map((side) => side.trim())) if (path !== '/dev/null') paths.add(path.replace(/^[ab]\//, ''));
}
