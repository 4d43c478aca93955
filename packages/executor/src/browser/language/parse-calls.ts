import { LanguageError, type Position, tokenize, type Token } from './tokenize.ts';

/** What an argument can be: a literal, never an expression. */
export type Literal = string | number | boolean | null | readonly Literal[];

export interface Argument extends Position {
  /** Of a keyword argument. */
  readonly name?: string;
  readonly value: Literal;
}

/** One call as it is written: `owner.name(arguments)`. */
export interface WrittenCall extends Position {
  readonly owner?: string;
  readonly name: string;
  readonly arguments: readonly Argument[];
}

const MAX_DEPTH = 16;
const CONSTANTS: Readonly<Record<string, boolean | null>> = { True: true, False: false, None: null, true: true, false: false, null: null };

/** Calls with literal arguments, one a line or after a semicolon. Throws `LanguageError`; evaluates nothing. */
export function parseCalls(text: string): readonly WrittenCall[] {
  return new Parser(tokenize(text)).calls();
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  calls(): readonly WrittenCall[] {
    const calls: WrittenCall[] = [];
    for (;;) {
      while (this.#is('break')) this.#take();
      if (this.#is('end')) return calls;
      calls.push(this.#call());
      if (!this.#is('end')) this.#expect('break', 'the end of the line');
    }
  }

  #next(): Token {
    return this.#tokens[this.#at]!;
  }

  #take(): Token {
    return this.#tokens[this.#at++]!;
  }

  #is(type: Token['type']): boolean {
    return this.#next().type === type;
  }

  #expect(type: Token['type'], what: string): Token {
    if (!this.#is(type)) throw new LanguageError(`${what} was expected, not ${named(this.#next())}`, this.#next());
    return this.#take();
  }

  #call(): WrittenCall {
    const { line, column } = this.#next();
    const names = [nameOf(this.#expect('name', 'a call such as click("12")'))];
    while (this.#is('.')) {
      this.#take();
      names.push(nameOf(this.#expect('name', 'a name')));
    }
    if (names.length > 2)
      throw new LanguageError(`${names.join('.')} is not known: calls are written click("12") or browser.click("#id")`, { line, column });
    this.#expect('(', `"(" after ${names.join('.')}`);
    const given = this.#list(')', () => this.#argument());
    const [name = '', owner] = names.toReversed();
    return { ...(owner !== undefined && { owner }), name, arguments: given, line, column };
  }

  #list<T>(close: ')' | ']', item: () => T): readonly T[] {
    const items: T[] = [];
    while (!this.#is(close)) {
      items.push(item());
      if (!this.#is(close)) this.#expect(',', `"," or "${close}"`);
    }
    this.#take();
    return items;
  }

  #argument(): Argument {
    const { line, column } = this.#next();
    if (this.#is('name') && this.#tokens[this.#at + 1]?.type === '=') {
      const name = nameOf(this.#take());
      this.#take();
      return { name, value: this.#literal(0), line, column };
    }
    return { value: this.#literal(0), line, column };
  }

  #literal(depth: number): Literal {
    const token = this.#take();
    if (depth > MAX_DEPTH) throw new LanguageError('lists are nested too deeply', token);
    if (token.type === 'string') {
      let { value } = token;
      while (this.#is('string')) value += (this.#take() as { value: string }).value; // strings side by side are one
      return value;
    }
    if (token.type === 'number') return token.value;
    if (token.type === '-' || token.type === '+') {
      const number = this.#expect('number', 'a number') as { value: number };
      return token.type === '-' ? -number.value : number.value;
    }
    if (token.type === '[') return this.#list(']', () => this.#literal(depth + 1));
    if (token.type === '(') {
      const items = this.#list(')', () => this.#literal(depth + 1));
      return items.length === 1 && this.#tokens[this.#at - 2]?.type !== ',' ? items[0]! : items;
    }
    if (token.type === 'name' && Object.hasOwn(CONSTANTS, token.text)) return CONSTANTS[token.text]!;
    throw new LanguageError(
      `a text, a number, a list, True, False or None was expected, not ${named(token)}: nothing is evaluated here`,
      token,
    );
  }
}

function nameOf(token: Token): string {
  return token.type === 'name' ? token.text : '';
}

function named(token: Token): string {
  if (token.type === 'string') return 'a text';
  if (token.type === 'number') return `the number ${token.value}`;
  if (token.type === 'break') return 'the end of the line';
  return token.type === 'end' ? token.text : `"${token.text}"`;
}
