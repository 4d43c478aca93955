import { Lexer, type MarkedToken, type Token, Tokenizer, type Tokens } from 'marked';
import { createElement, Fragment, memo, type ReactNode } from 'react';
import { cx } from '../ui/cx.ts';
import { CodeBlock, IsPartial } from './code-block.tsx';
import { Well } from './output.tsx';

/** Longer texts are shown as they are: laying out markdown of this size would hold the page. */
const MAX_MARKDOWN = 100_000;
/** So is a paragraph. */
const MAX_PARAGRAPH = 10_000;
/** And one that would take what all paragraphs together may, in signs that are compared: each sign of emphasis looks for its other one. */
const MAX_WORK = 10_000_000;
/** A row of one sign has as many cells as the first: a table with more than these is shown as it is, too. */
const MAX_CELLS = 10_000;

/** Markdown, without HTML. */
export const Prose = memo(function Prose(props: {
  readonly text: string;
  readonly quiet?: boolean;
  /** More of it is to come. */
  readonly isPartial?: boolean;
}) {
  const { text, quiet, isPartial = false } = props;
  const tokens = tokensOf(text);
  if (!tokens) return <Well text={text} />;
  return (
    <div className={cx('prose', quiet && 'prose-quiet')}>
      <IsPartial value={isPartial}>
        <All of={tokens} />
      </IsPartial>
    </div>
  );
});

/** `undefined`: too long, or nested too deeply to be read. */
function tokensOf(text: string): readonly Token[] | undefined {
  if (text.length > MAX_MARKDOWN) return undefined;
  try {
    return new BoundedLexer().lex(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

class BoundedLexer extends Lexer {
  #work = 0;

  constructor() {
    super({ gfm: true, tokenizer: new BoundedTokenizer() });
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    const work = workOf(source);
    if (source.length <= MAX_PARAGRAPH && this.#work + work <= MAX_WORK) {
      this.#work += work;
      return super.inlineTokens(source, tokens);
    }
    tokens.push({ type: 'text', raw: source, text: source });
    return tokens;
  }
}

/** Before an at sign an address is looked for from each letter on. */
function workOf(source: string): number {
  const emphasis = source.match(/[*_~]/g)?.length ?? 0;
  return source.length * (emphasis + (source.includes('@') ? source.length / 4 : 0));
}

class BoundedTokenizer extends Tokenizer {
  override table(source: string): Tokens.Table | undefined {
    const [, head, , rows = ''] = this.rules.block.table.exec(source) ?? [];
    const isLarge = head !== undefined && head.split('|').length * rows.split('\n').length > MAX_CELLS;
    return isLarge ? undefined : super.table(source);
  }
}

function All({ of }: { readonly of: readonly Token[] }) {
  return of.map((token, index) => <Fragment key={index}>{shown(token as MarkedToken)}</Fragment>);
}

function shown(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'text':
      return token.tokens ? <All of={token.tokens} /> : decoded(token.text);
    case 'paragraph':
      return createElement('p', undefined, <All of={token.tokens} />);
    case 'strong':
    case 'em':
    case 'del':
    case 'blockquote':
      return createElement(token.type, undefined, <All of={token.tokens} />);
    case 'heading':
      return createElement(`h${token.depth}`, undefined, <All of={token.tokens} />);
    case 'codespan':
      return <code>{token.text}</code>;
    case 'code':
      return <CodeBlock text={token.text} language={/^[\w+#.-]*/.exec(token.lang ?? '')![0].toLowerCase()} />;
    case 'list':
      return createElement(
        token.ordered ? 'ol' : 'ul',
        token.ordered && token.start !== 1 ? { start: token.start } : undefined,
        token.items.map((item, index) => <li key={index}>{<All of={item.tokens} />}</li>),
      );
    case 'checkbox':
      return (
        <>
          <input type="checkbox" checked={token.checked} disabled />{' '}
        </>
      );
    case 'table':
      return <Table of={token} />;
    case 'link':
      return <Link of={token} />;
    case 'image':
      return token.href.startsWith('data:image/') ? <img src={token.href} alt={token.text} /> : token.text || 'picture';
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'html':
    case 'escape':
      return token.text;
    default:
      return null;
  }
}

function Table({ of }: { readonly of: Tokens.Table }) {
  const cells = (row: readonly Tokens.TableCell[], tag: 'th' | 'td') =>
    row.map(({ tokens, align }, index) =>
      createElement(tag, { key: index, ...(align && { style: { textAlign: align } }) }, <All of={tokens} />),
    );
  return (
    <table>
      <thead>
        <tr>{cells(of.header, 'th')}</tr>
      </thead>
      <tbody>
        {of.rows.map((row, index) => (
          <tr key={index}>{cells(row, 'td')}</tr>
        ))}
      </tbody>
    </table>
  );
}

/** It opens in a new tab without a referrer. Pictures of other hosts are not fetched, because that would send one too. */
function Link({ of }: { readonly of: Tokens.Link }) {
  const href = of.autolink ? of.href : decoded(of.href);
  if (!isHarmless(href)) return <All of={of.tokens} />;
  return (
    <a href={href} title={of.title ? decoded(of.title) : undefined} target="_blank" rel="noreferrer noopener">
      <All of={of.tokens} />
    </a>
  );
}

/** Without a scheme, or with one that runs nothing. */
function isHarmless(href: string): boolean {
  const [scheme] = /^[^/?#]*?:/.exec(href) ?? [];
  return scheme === undefined || /^(?:https?|mailto):$/i.test(scheme);
}

/** `&copy;` as ©: one reference at a time, so that nothing else of the text is read as HTML. */
function decoded(text: string): string {
  return text.replace(/&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});/g, (reference) => {
    const element = document.createElement('i');
    element.innerHTML = reference;
    return element.textContent;
  });
}

/** Text that is still streaming: finished blocks stay as they are, so each new piece lays out only the last one. */
export function StreamingProse({ text }: { readonly text: string }) {
  const blocks = closedBlocks(text);
  return (
    <div className="streaming">
      {blocks.map((block, index) => (
        <Prose key={index} text={block} isPartial={index === blocks.length - 1} />
      ))}
    </div>
  );
}

/**
 * Split at empty lines, but never inside a fenced block.
 * @internal
 */
export function closedBlocks(text: string): readonly string[] {
  const blocks: string[] = [];
  let current = '';
  let isFenced = false;
  for (const line of text.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) isFenced = !isFenced;
    if (line.trim() === '' && !isFenced) {
      if (current.trim()) blocks.push(current);
      current = '';
    } else current += `${line}\n`;
  }
  if (current.trim()) blocks.push(current);
  return blocks;
}
