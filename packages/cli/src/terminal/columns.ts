/** East Asian characters that are written wide, and pictures. */
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{17000}-\u{18fff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})/u;
/** Characters that combine with the one before, or are not shown. */
const NONE = /^(?:\p{Mn}|\p{Me}|\p{Cf})+$/u;
const ASCII = /^[ -~]*$/;

let segmenter: Intl.Segmenter | undefined;
/** Created for the first text that is not ASCII, because that takes 10 ms. */
export const lettersOf = (text: string) => (segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })).segment(text);

/** How many columns of a terminal a line takes, without what a terminal acts upon. */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of lettersOf(text)) columns += widthOf(segment);
  return columns;
}

/** As much of the text as fits, with … for the rest. */
export function cutToColumns(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let left = Math.max(1, columns - 1);
  let shown = '';
  for (const { segment } of lettersOf(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    shown += segment;
  }
  return `${shown}…`;
}

/** Breaks lines that do not fit at blanks; what follows is indented as their beginning. A longer word stays whole. */
export function wrapToColumns(text: string, columns: number): string {
  return text.split('\n').map((line) => wrapped(line, columns)).join('\n'); // prettier-ignore
}

function wrapped(line: string, columns: number): string {
  if (columnsOf(line) <= columns) return line;
  const [indent] = /^ */.exec(line)!;
  const lines: string[] = [];
  let current = indent;
  for (const word of line.slice(indent.length).split(' ')) {
    const longer = current === indent ? indent + word : `${current} ${word}`;
    if (current !== indent && columnsOf(longer) > columns) {
      lines.push(current);
      current = indent + word;
    } else current = longer;
  }
  return [...lines, current].join('\n');
}

function widthOf(letter: string): number {
  if (NONE.test(letter)) return 0;
  return WIDE.test(letter) || letter.includes('\ufe0f') ? 2 : 1;
}
