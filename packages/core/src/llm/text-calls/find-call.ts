/**
 * Finds the next call in a text that may still grow. Owns the place that was read to; does not own what the call says.
 *
 * Invariants
 * FC1  A call begins a line, or follows words on its line when it names a tool that is offered and goes on as a call does.
 * FC2  What stands in a block of code, between backticks, in quotes or in a quoted line is shown, not called.
 * FC3  Every character is read once, however small the pieces are in which the text comes.
 */
export interface CallStart {
  readonly at: number;
  /** Where what stands inside begins. */
  readonly bodyAt: number;
  /** Undefined for a `<tool_call>`, which names its tool inside. */
  readonly name: string | undefined;
}

export class CallFinder {
  readonly #names: ReadonlySet<string>;
  /** What may still matter: the line that is being read, as far back as it is looked at. */
  #text = '';
  #at = 0;
  #lineAt = 0;
  #isLineRead = false;
  /** The marks that opened the block of code we are in. */
  #fence = '';

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  /** The words that are known to be no part of a call, and the call after them with the rest of the text. `isWhole`: nothing more will come. */
  read(text: string, isWhole: boolean): { readonly words: string; readonly start?: CallStart; readonly rest: string } {
    this.#text += text;
    const from = this.#at;
    const start = this.#next(isWhole);
    const words = this.#text.slice(from, start?.at ?? this.#at);
    if (start) {
      const rest = this.#text.slice(start.at);
      return { words, rest, start: { ...start, at: 0, bodyAt: start.bodyAt - start.at } };
    }
    const unneeded = Math.max(0, this.#at - MAX_BEFORE);
    this.#text = this.#text.slice(unneeded);
    this.#at -= unneeded;
    this.#lineAt -= unneeded;
    return { words, rest: '' };
  }

  #next(isWhole: boolean): CallStart | undefined {
    const text = this.#text;
    for (;;) {
      if (!this.#isLineRead && !this.#readFence(isWhole)) return undefined;
      LINE_OR_TAG.lastIndex = this.#at;
      const index = LINE_OR_TAG.exec(text)?.index;
      this.#at = index ?? text.length;
      if (index === undefined) return undefined;
      if (text[index] === '\n') {
        this.#at = this.#lineAt = index + 1;
        this.#isLineRead = false;
        continue;
      }
      const start = this.#fence === '' ? readStart(text, index) : undefined;
      const found = start && this.#judge(start, isWhole);
      if (found === 'call') return start;
      if (found === 'unknown' || (!start && this.#fence === '' && !isWhole && couldBecomeStart(text, index))) return undefined;
      this.#at = index + 1;
    }
  }

  /** False while the beginning of the line may still become a mark. */
  #readFence(isWhole: boolean): boolean {
    const head = this.#text.slice(this.#lineAt, this.#lineAt + MAX_MARK);
    if (!isWhole && head.length < MAX_MARK && /^ *(`*|~*)$/.test(head)) return false;
    this.#isLineRead = true;
    const [, mark = '', rest = ''] = /^ {0,3}(`{3,}|~{3,})([^\n]*)/.exec(head) ?? [];
    if (this.#fence === '') this.#fence = mark;
    else if (mark.startsWith(this.#fence) && rest.trim() === '') this.#fence = '';
    return true;
  }

  #judge({ at, bodyAt, name }: CallStart, isWhole: boolean): 'call' | 'shown' | 'unknown' {
    const before = this.#text.slice(Math.max(0, this.#lineAt, at - MAX_BEFORE), at);
    if (before.trim() === '') return 'call';
    if (name !== undefined && !this.#names.has(name)) return 'shown';
    const isOpen = before.split('`').length % 2 === 0 || /^\s*>|["'“‘«(\w=]$/.test(before);
    if (isOpen || before.length === MAX_BEFORE) return 'shown';
    const inside = this.#text.slice(bodyAt, bodyAt + MAX_HEADER);
    if (/^\s*(?:<parameter\b|<\/function|<function\b|\{)/.test(inside)) return 'call';
    return !isWhole && inside.length < MAX_HEADER && /^\s*(?:<[a-z/]*)?$/.test(inside) ? 'unknown' : 'shown';
  }
}

/** A fence longer than this is none; a call after more words on its line is not looked for. */
const MAX_MARK = 40;
const MAX_BEFORE = 1_000;

const LINE_OR_TAG = /[\n<]/g;
const FUNCTION = /<function(?:\s*=\s*|\s+name\s*=\s*)["']?([\w.:/-]{1,120})["']?\s*>/y;
const WRAPPER = /<tool_call>\s*(?=\{|<function\b)/y;

/** A call that begins just here. */
export function readStart(text: string, at: number): CallStart | undefined {
  FUNCTION.lastIndex = at;
  const named = FUNCTION.exec(text);
  if (named) return { at, bodyAt: FUNCTION.lastIndex, name: named[1] };
  WRAPPER.lastIndex = at;
  return WRAPPER.test(text) ? { at, bodyAt: WRAPPER.lastIndex, name: undefined } : undefined;
}

const MAX_HEADER = 160;

function couldBecomeStart(text: string, at: number): boolean {
  const head = text.slice(at, at + MAX_HEADER);
  if (head.length === MAX_HEADER) return false;
  return '<function'.startsWith(head) || '<tool_call>'.startsWith(head) || /^<function[\s=][^>\n]*$|^<tool_call>\s*(<[a-z]*)?$/.test(head);
}
