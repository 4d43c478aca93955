/**
 * Shows Markdown on a terminal while it is written. Owns the line that is not complete: of it as much is given as nothing that follows can
 * change, so pieces of any size give together what the whole gives. Its text is `printable` already.
 *
 * MP1  A mark without its end is text, and so is a pair of marks with more than `MAX_SPAN` characters between them.
 * MP2  Lines between fences are given as they are, behind a margin.
 * MP3  A table is given when it is complete: how wide its columns are is known then.
 */
import { MarkdownTable } from './markdown-table.ts';

const ESC = '\u001b[';
/** The longest text within one pair of marks, which bounds how much of a line is held back. */
const MAX_SPAN = 1_000;

const FENCE = /^ {0,9}(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}(?:-(?:\s*-){2,}|\*(?:\s*\*){2,}|_(?:\s*_){2,})\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(?=\S)/;
const QUOTE = /^\s*(?:>\s?)+(?=\S)/;
/** A line that may still become something other than text. */
const UNDECIDED = new RegExp(
  [
    String.raw`^\s*(?:[-*+]\s*|\d{1,9}(?:[.)]\s*)?|>[>\s]*)?$`,
    String.raw`^ {0,3}([-*_])(?:\s*\1)*\s*$`,
    String.raw`^ {0,3}#{1,6}(?:\s|$)`,
    String.raw`^ {0,9}(?:\x60{1,2}$|~{1,2}$|\x60{3}|~{3})`,
  ].join('|'),
);

export class MarkdownProse {
  /** The line that is being written, and how much of it was given. */
  #line = '';
  #at = 0;
  #isBegun = false;
  /** The text that closes the open fence. */
  #fence: string | undefined;
  readonly #table: MarkdownTable;

  /** `columns`: of the terminal as it is then; tables fit it. */
  constructor(columns: () => number = () => 80) {
    this.#table = new MarkdownTable(inline, columns);
  }

  /** The part that can be shown by now. */
  write(text: string): string {
    const [first = '', ...others] = text.split('\n');
    let shown = '';
    this.#line += first;
    for (const next of others) {
      shown += this.#completed();
      this.#line = next;
    }
    return shown + this.#begun();
  }

  /** The rest, which was held back. */
  end(): string {
    const shown = (this.#line === '' ? '' : this.#completed()) + this.#tableEnd();
    this.#fence = undefined;
    return shown.replace(/\n$/, '');
  }

  /** The table before a line that is not part of it. */
  #tableEnd(): string {
    return this.#table.isOpen ? `${this.#table.end()}\n` : '';
  }

  #completed(): string {
    if (this.#fence === undefined && !this.#isBegun) {
      const isTaken = this.#table.take(this.#line);
      const before = isTaken ? '' : this.#tableEnd();
      if (isTaken || (before !== '' && this.#table.take(this.#line))) {
        this.#line = '';
        return before;
      }
      return before + this.#completedText();
    }
    return this.#completedText();
  }

  #completedText(): string {
    const shown = this.#isBegun ? this.#inline(true) : this.#wholeLine();
    this.#line = '';
    this.#at = 0;
    this.#isBegun = false;
    return shown === undefined ? '' : `${shown}\n`;
  }

  #begun(): string {
    if (this.#fence !== undefined) return '';
    if (this.#isBegun) return this.#inline(false);
    if (this.#table.mayHave(this.#line)) return '';
    const before = this.#tableEnd();
    if (before !== '') return before + this.#begun();
    if (UNDECIDED.test(this.#line)) return '';
    return this.#begin() + this.#inline(false);
  }

  /** The prefix of a line. */
  #begin(): string {
    this.#isBegun = true;
    const [item, indent = '', mark = ''] = ITEM.exec(this.#line) ?? [];
    const [quote] = QUOTE.exec(this.#line) ?? [];
    this.#at = (item ?? quote ?? '').length;
    if (item !== undefined) return `${indent}${/\d/.test(mark) ? mark : '•'} `;
    return quote === undefined ? '' : `${styled('dim', '│')} `;
  }

  /** Undefined if the line itself is not shown. */
  #wholeLine(): string | undefined {
    const fence = FENCE.exec(this.#line);
    if (this.#fence !== undefined) {
      if (fence?.[1]?.startsWith(this.#fence) && fence[2]!.trim() === '') {
        this.#fence = undefined;
        return undefined;
      }
      return `  ${styled('code', this.#line)}`;
    }
    if (fence && !fence[2]!.includes('`')) {
      this.#fence = fence[1];
      return fence[2]!.trim() === '' ? undefined : `  ${styled('dim', fence[2]!.trim())}`;
    }
    const heading = HEADING.exec(this.#line);
    if (heading) return styled('bold', inline(heading[1]!));
    if (RULE.test(this.#line)) return styled('dim', '─'.repeat(20));
    return this.#begin() + this.#inline(true);
  }

  #inline(isWhole: boolean): string {
    const { shown, to } = spans(this.#line, this.#at, isWhole);
    this.#at = to;
    return shown;
  }
}

/** Renders a complete text. */
export function markdownProse(text: string, columns?: () => number): string {
  const prose = new MarkdownProse(columns);
  return prose.write(text) + prose.end();
}

/** Marks that may open a pair; `*` and `_` only before a word, `_` not in one. */
const OPENER = /(?<!`)`|\[|\\(?=[!-/:-@[-`{-~]|$)|(?<!\*)\*(?!\s)|(?<!~)~(?=~|$)|(?<![\p{L}\p{N}_])_(?!\s)/gu;
const within = (part: string) => `(${part}{1,${MAX_SPAN}}?)`;
const CODE = new RegExp(String.raw`(\x60{1,9})(?!\x60)${within('.')}(?<!\x60)\1(?!\x60)`, 'uy');
const BOLD = new RegExp(String.raw`(\*\*|__)(?=\S)${within('.')}(?<=\S)\1(?![*_])`, 'uy');
const ITALIC = new RegExp(String.raw`([*_])(?=[^\s*_])${within('.')}(?<=[^\s*_])\1(?![\p{L}\p{N}*_])`, 'uy');
const STRUCK = new RegExp(String.raw`(~~)(?=[^\s~])${within('.')}(?<=\S)~~(?!~)`, 'uy');
const LINK = new RegExp(
  String.raw`\[${within(String.raw`[^\]]`)}\]\(<?([^\s()<>]{1,${MAX_SPAN}}(?:\([^\s()]{0,200}\))?)>?(?:\s"[^"]{0,200}")?\)`,
  'uy',
);
/** No pair is longer. */
const MAX_PAIR = 2 * MAX_SPAN + 500;
const ESCAPED = /\\([!-/:-@[-`{-~])/uy;

type Render = (match: RegExpExecArray) => string;
const SPANS: readonly (readonly [RegExp, Render])[] = [
  [ESCAPED, ([, char]) => char!],
  [CODE, ([, , code]) => styled('code', code!.replace(/^ (.*\S.*) $/, '$1'))],
  [BOLD, ([, , text]) => styled('bold', inline(text!))],
  [ITALIC, ([, , text]) => styled('italic', inline(text!))],
  [STRUCK, ([, , text]) => styled('struck', inline(text!))],
  [LINK, ([, text, url]) => (text === url ? styled('link', url!) : `${inline(text!)} (${styled('link', url!)})`)],
];

function inline(text: string): string {
  return spans(text, 0, true).shown;
}

/** What `line` gives from `at` on; of a line that is not whole only what is settled. */
function spans(line: string, at: number, isWhole: boolean): { readonly shown: string; readonly to: number } {
  let shown = '';
  let from = at;
  for (;;) {
    OPENER.lastIndex = from;
    const opener = OPENER.exec(line)?.index ?? line.length;
    shown += line.slice(from, opener);
    if (opener === line.length) return { shown, to: opener };
    const found = firstSpan(line, opener);
    // The next character may still belong to the mark that ends it.
    if (!isWhole && (found?.end === line.length || (!found && line.length - opener <= MAX_PAIR))) return { shown, to: opener };
    // A run of marks that encloses nothing is text as a whole.
    const literal = /^(?:`+|\*+|_+|~+|.)/u.exec(line.slice(opener))![0];
    shown += found?.shown ?? literal;
    from = found?.end ?? opener + literal.length;
  }
}

function firstSpan(line: string, at: number): { readonly shown: string; readonly end: number } | undefined {
  for (const [pattern, render] of SPANS) {
    pattern.lastIndex = at;
    const match = pattern.exec(line);
    if (match) return { shown: render(match), end: at + match[0].length };
  }
  return undefined;
}

const STYLES = { bold: [1, 22], dim: [2, 22], italic: [3, 23], link: [4, 24], struck: [9, 29], code: [36, 39] } as const;

function styled(style: keyof typeof STYLES, text: string): string {
  const [on, off] = STYLES[style].map((code) => `${ESC}${code}m`) as [string, string];
  // What ends the same style within begins it again.
  return text === '' ? '' : `${on}${text.replaceAll(off, `${off}${on}`)}${off}`;
}
