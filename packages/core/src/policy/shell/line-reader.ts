/** Between words: blanks, comments, line ends with the heredocs behind them, redirections. */
import { WordReader } from './word-reader.ts';
import type { Redirect, Word } from './shell-script.ts';

const REDIRECT = /&>>|&>|<<<|<<-|<<|<&|<>|<|>>|>&|>\||>/y;

interface Heredoc {
  readonly end: string;
  readonly isIndented: boolean;
  readonly isExpanded: boolean;
}

export abstract class LineReader extends WordReader {
  /** Those whose bodies begin behind the next line end. */
  protected heredocs: Heredoc[] = [];
  /** How many `$(` and `<(` are open. */
  protected substitutions = 0;

  protected spaces(): void {
    for (;;) {
      if (this.looksAt('\\\n')) {
        if (this.awaitsBodies > 0) return this.fail('a line ends with a backslash before a heredoc');
        this.at += 2;
      } else if (this.looksAt(' ') || this.looksAt('\t')) this.at += 1;
      else break;
    }
    if (!this.looksAt('#')) return;
    const end = this.text.indexOf('\n', this.at);
    this.at = end < 0 ? this.text.length : end;
  }

  protected blanks(): void {
    for (;;) {
      this.spaces();
      if (!this.looksAt('\n')) return;
      this.at += 1;
      this.#bodies();
    }
  }

  #bodies(): void {
    const heredocs = this.heredocs;
    this.heredocs = [];
    this.awaitsBodies -= heredocs.length;
    if (this.awaitsBodies > 0) return this.fail('a line ends within parentheses before a heredoc');
    for (const { end, isIndented, isExpanded } of heredocs) {
      const body: string[] = [];
      for (;;) {
        if (this.isAtEnd) return this.fail('a heredoc has no end');
        const stop = this.text.indexOf('\n', this.at);
        const line = this.text.slice(this.at, stop < 0 ? this.text.length : stop);
        this.at = stop < 0 ? this.text.length : stop + 1;
        if ((isIndented ? line.replace(/^\t+/, '') : line) === end) break;
        if (isExpanded && line.endsWith('\\')) return this.fail('a line of a heredoc ends with a backslash');
        body.push(line);
      }
      if (isExpanded) this.deeper(() => this.nested(body.join('\n'), 'heredoc'));
    }
  }

  protected redirects(): readonly Redirect[] {
    const redirects: Redirect[] = [];
    for (;;) {
      this.spaces();
      const redirect = this.redirect();
      if (!redirect) return redirects;
      redirects.push(redirect);
    }
  }

  protected redirect(): Redirect | undefined {
    const number = /\d+(?=[<>])/y;
    number.lastIndex = this.at;
    const from = this.at + (number.exec(this.text)?.[0].length ?? 0);
    REDIRECT.lastIndex = from;
    const operator = REDIRECT.exec(this.text)?.[0];
    // `<(` begins a word.
    if (operator === undefined || (/^[<>]$/.test(operator) && this.text[from + 1] === '(')) return undefined;
    this.at = from + operator.length;
    this.spaces();
    const target = this.word();
    if (operator === '<<' || operator === '<<-') this.#await(target, operator === '<<-');
    return { operator, target };
  }

  #await(word: Word, isIndented: boolean): void {
    // Bash 5.2 writes a substitution out and reads it again, and loses the `;` of a line behind a heredoc: two commands become one.
    if (this.substitutions > 0) return this.fail('a heredoc within a substitution');
    if (word.known !== 'literal' || /[$`\n]/.test(word.raw)) return this.fail('a heredoc whose end is not understood');
    this.heredocs.push({ end: word.text, isIndented, isExpanded: !word.isQuoted });
    this.awaitsBodies += 1;
  }
}
