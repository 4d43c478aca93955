import { LanguageError, type Position } from './language-error.ts';
import { tokenize, type Token } from './tokenize.ts';

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
  const tokens = tokenize(text);
  let at = 0;
  const next = (): Token => tokens[at]!;
  const take = (): Token => tokens[at++]!;
  const is = (type: Token['type']): boolean => next().type === type;

  function expect(type: Token['type'], what: string): Token {
    if (!is(type)) throw new LanguageError(`${what} was expected, not ${said(next())}`, next());
    return take();
  }

  function call(): WrittenCall {
    const { line, column } = next();
    const names = [nameOf(expect('name', 'a call such as click("12")'))];
    while (is('.')) {
      take();
      names.push(nameOf(expect('name', 'a name')));
    }
    if (names.length > 2)
      throw new LanguageError(`${names.join('.')} is not known: calls are written click("12") or browser.click("#id")`, { line, column });
    expect('(', `"(" after ${names.join('.')}`);
    const given = list(')', argument);
    const [name = '', owner] = names.toReversed();
    return { ...(owner !== undefined && { owner }), name, arguments: given, line, column };
  }

  function list<T>(close: ')' | ']', item: () => T): readonly T[] {
    const items: T[] = [];
    while (!is(close)) {
      items.push(item());
      if (!is(close)) expect(',', `"," or "${close}"`);
    }
    take();
    return items;
  }

  function argument(): Argument {
    const { line, column } = next();
    if (is('name') && tokens[at + 1]?.type === '=') {
      const name = nameOf(take());
      take();
      return { name, value: literal(0), line, column };
    }
    return { value: literal(0), line, column };
  }

  function literal(depth: number): Literal {
    const token = take();
    if (depth > MAX_DEPTH) throw new LanguageError('lists are nested too deeply', token);
    if (token.type === 'string') {
      let { value } = token;
      while (is('string')) value += (take() as { value: string }).value; // strings side by side are one
      return value;
    }
    if (token.type === 'number') return token.value;
    if (token.type === '-' || token.type === '+') {
      const number = expect('number', 'a number') as { value: number };
      return token.type === '-' ? -number.value : number.value;
    }
    if (token.type === '[') return list(']', () => literal(depth + 1));
    if (token.type === '(') {
      const items = list(')', () => literal(depth + 1));
      return items.length === 1 && tokens[at - 2]?.type !== ',' ? items[0]! : items;
    }
    if (token.type === 'name' && Object.hasOwn(CONSTANTS, token.text)) return CONSTANTS[token.text]!;
    throw new LanguageError(
      `a text, a number, a list, True, False or None was expected, not ${said(token)}: nothing is evaluated here`,
      token,
    );
  }

  const calls: WrittenCall[] = [];
  for (;;) {
    while (is('break')) take();
    if (is('end')) return calls;
    calls.push(call());
    if (!is('end')) expect('break', 'the end of the line');
  }
}

function nameOf(token: Token): string {
  return token.type === 'name' ? token.text : '';
}

function said(token: Token): string {
  if (token.type === 'string') return 'a text';
  if (token.type === 'number') return `the number ${token.value}`;
  if (token.type === 'break') return 'the end of the line';
  return token.type === 'end' ? token.text : `"${token.text}"`;
}
