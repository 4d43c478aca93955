import { useState } from 'react';
import { cut } from '../copy/shorten.ts';
import { figure, t } from '../lib/language/text.ts';

/** Of output that is longer than both: how it begins says what ran, how it ends says what came of it. */
const HEAD = 2;
const TAIL = 10;
const AT_MOST = 2_000;
/** A line may be as long as the output: what is in the document is bounded in characters too. */
const MAX_CHARACTERS = { folded: 10_000, whole: 400_000 };

interface WellProps {
  readonly text: string;
  /** Of a program. */
  readonly rows?: boolean;
  /** More of it comes. It has the shape and the height that it has in the end, so that nothing moves then. */
  readonly isLive?: boolean;
}

/** Output: its head and its tail, then all of it; never more than 2,000 rows in the document. */
export function Well({ text, rows = false, isLive = false }: WellProps) {
  const [isWhole, setWhole] = useState(false);
  const lines = text.replace(/\n+$/, '').split('\n');
  const hidden = isWhole ? 0 : Math.max(0, lines.length - HEAD - TAIL);
  const shown = isWhole ? lines.slice(-AT_MOST) : hidden > 0 ? [...lines.slice(0, HEAD), '⋯', ...lines.slice(-TAIL)] : lines;
  return (
    <>
      <pre className="well" {...(isLive && { 'aria-live': 'off' })} {...(rows && { role: 'group', 'aria-label': t('Output') })}>
        <AnsiText text={isWhole ? shown.join('\n').slice(-MAX_CHARACTERS.whole) : cut(shown.join('\n'), MAX_CHARACTERS.folded)} />
      </pre>
      {isLive && hidden > 0 && <p className="more">{t('{{count}} lines so far', { count: lines.length })}</p>}
      {!isLive && !isWhole && (hidden > 0 || text.length > MAX_CHARACTERS.folded) && (
        <button type="button" className="more" onClick={() => setWhole(true)}>
          {t('Show all {{count}} lines', { count: lines.length })}
        </button>
      )}
      {isWhole && lines.length > AT_MOST && (
        <p className="more">{t('The last {{n}} lines of {{count}} lines', { n: figure(AT_MOST), count: lines.length })}</p>
      )}
    </>
  );
}

export interface Piece {
  readonly text: string;
  /** Class of a token; empty for plain text. */
  readonly look: string;
}

const COLOURS: Readonly<Record<number, string>> = {
  31: 'tone-bad',
  91: 'tone-bad',
  32: 'tone-ok',
  92: 'tone-ok',
  33: 'tone-wait',
  93: 'tone-wait',
  34: 'syn-fn',
  94: 'syn-fn',
  35: 'syn-key',
  95: 'syn-key',
  36: 'syn-type',
  96: 'syn-type',
  2: 'text-ink-3',
  90: 'text-ink-3',
};

// oxlint-disable-next-line no-control-regex -- terminals speak in control characters
const ESCAPES = /\u001b(?:\[([0-9;:]*)m|\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g;

/**
 * Terminal output as pieces: the sixteen colours become tokens, every other control sequence is dropped.
 * @internal
 */
export function ansiPieces(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let colour = '';
  let isBold = false;
  let end = 0;
  const put = (part: string) => {
    const look = [colour, isBold && 'ansi-bold text-ink'].filter(Boolean).join(' ');
    if (part) pieces.push({ text: part, look });
  };
  for (const match of text.matchAll(ESCAPES)) {
    put(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[1] === undefined) continue;
    for (const code of match[1].split(/[;:]/).map(Number)) {
      if (code === 0) [colour, isBold] = ['', false];
      else if (code === 1) isBold = true;
      else if (code === 22) isBold = false;
      else if (code === 39) colour = '';
      else colour = COLOURS[code] ?? colour;
    }
  }
  put(text.slice(end));
  return pieces;
}

/** The text alone. */
export function withoutAnsi(text: string): string {
  return text.replaceAll(ESCAPES, '');
}

export function AnsiText({ text }: { readonly text: string }) {
  return ansiPieces(text).map((piece, index) =>
    piece.look ? (
      <span key={index} className={piece.look}>
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
}
