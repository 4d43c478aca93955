import { useState } from 'react';
import { count } from '../copy/counts.ts';
import { cut } from '../copy/shorten.ts';
import { cx } from '../ui/cx.ts';
import { AnsiText } from './ansi.tsx';

const AT_FIRST = 12;
const AT_MOST = 2_000;
/** A line may be as long as the output: what is in the document is bounded in characters too. */
const MAX_CHARACTERS = { folded: 10_000, whole: 400_000 };

/** Output: twelve rows, then all of it; never more than 2,000 in the document. */
export function Well({ text, rows = false }: { readonly text: string; readonly rows?: boolean }) {
  const [isWhole, setWhole] = useState(false);
  const lines = text.replace(/\n+$/, '').split('\n');
  const shown = isWhole ? lines.slice(-AT_MOST) : lines.slice(0, AT_FIRST);
  return (
    <>
      <pre className={cx('well scroll', rows && 'well-rows')} {...(rows && { tabIndex: 0, role: 'group', 'aria-label': 'Output' })}>
        <AnsiText text={isWhole ? shown.join('\n').slice(-MAX_CHARACTERS.whole) : cut(shown.join('\n'), MAX_CHARACTERS.folded)} />
      </pre>
      {!isWhole && (lines.length > AT_FIRST || text.length > MAX_CHARACTERS.folded) && (
        <button type="button" className="more" onClick={() => setWhole(true)}>
          Show all {count(lines.length, 'line')}
        </button>
      )}
      {isWhole && lines.length > AT_MOST && (
        <p className="more">
          The last {count(AT_MOST, 'line')} of {count(lines.length, 'line')}
        </p>
      )}
    </>
  );
}
