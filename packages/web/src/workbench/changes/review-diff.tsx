import { Undo2 } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, Fragment, useMemo, useRef, useState } from 'react';
import { CodeLine, SIGNS, SPOKEN } from '../../code/diff-table.tsx';
import { type Hunk, hunksOf, pairLines } from '../../code/hunks.ts';
import type { DiffLine, LineDiff } from '../../code/line-diff.ts';
import { type ColouredLines, useColouredDiff } from '../../code/use-highlight.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { t } from '../../lib/language/text.ts';

export interface ReviewDiffProps {
  readonly diff: LineDiff;
  readonly path: string;
  readonly isNew: boolean;
  readonly isSideBySide: boolean;
  /** Missing where nothing can be changed. */
  readonly onRevert: ((hunk: Hunk) => void) | undefined;
  readonly onComment: ((line: DiffLine) => void) | undefined;
  /** What stands below a line: its comments, and the one that is written. */
  readonly below: (line: DiffLine) => ReactNode;
}

const AT_FIRST = 600;

/** One file's changes, hunk by hunk; each line number is a button that comments on its line. */
export function ReviewDiff(props: ReviewDiffProps) {
  const { diff, isSideBySide, onRevert } = props;
  const hunks = useMemo(() => hunksOf(diff), [diff]);
  const [isWhole, setWhole] = useState(false);
  const table = useRef<HTMLTableElement>(null);
  if (diff.isCut)
    return (
      <p className="p-3 text-ink-2">
        {t('Too large to compare here: {{now}} now, {{before}} before.', {
          now: t('{{count}} lines', { count: diff.added }),
          before: t('{{count}} lines', { count: diff.removed }),
        })}
      </p>
    );
  const shown = isWhole ? hunks : firstHunks(hunks);
  const columns = isSideBySide ? 4 : 3;
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the arrows move between the buttons inside */}
      <table
        ref={table}
        className="diff review-diff"
        data-new={props.isNew}
        data-side={isSideBySide}
        onKeyDown={(event) => onKeys(event, table.current)}
      >
        <Columns isSideBySide={isSideBySide} />
        <tbody>
          {shown.map((hunk, index) => (
            <Fragment key={`${hunk.old.start}-${hunk.new.start}`}>
              <HunkHead hunk={hunk} position={index} size={hunks.length} columns={columns} onRevert={onRevert} />
              {isSideBySide ? <Sides hunk={hunk} {...props} /> : <Lines hunk={hunk} {...props} />}
            </Fragment>
          ))}
        </tbody>
      </table>
      {shown.length < hunks.length && (
        <button type="button" className="more px-3" onClick={() => setWhole(true)}>
          {t('Show all {{count}} hunks', { count: hunks.length })}
        </button>
      )}
    </>
  );
}

/** The table's layout is fixed, and its first row spans all columns. */
function Columns({ isSideBySide }: { readonly isSideBySide: boolean }) {
  return isSideBySide ? (
    <colgroup>
      <col className="line-number" />
      <col />
      <col className="line-number" />
      <col />
    </colgroup>
  ) : (
    <colgroup>
      <col className="line-number" />
      <col className="sign" />
      <col />
    </colgroup>
  );
}

interface HunkHeadProps extends Pick<ReviewDiffProps, 'onRevert'> {
  readonly hunk: Hunk;
  readonly position: number;
  readonly size: number;
  readonly columns: number;
}

function HunkHead({ hunk, position, size, columns, onRevert }: HunkHeadProps) {
  const which = { n: position + 1, size };
  return (
    <tr data-line="gap">
      <td colSpan={columns}>
        <span>
          {hunk.skipped > 0 && `${t('{{count}} unchanged lines', { count: hunk.skipped })} · `}
          {t('Hunk {{n}} of {{size}}', which)}
        </span>
        {onRevert && (
          <Button small data-hunk={position} aria-label={t('Revert hunk {{n}} of {{size}}', which)} onClick={() => onRevert(hunk)}>
            <Icon of={Undo2} small />
            {t('Revert')}
          </Button>
        )}
      </td>
    </tr>
  );
}

function Lines({ hunk, path, onComment, below }: ReviewDiffProps & { readonly hunk: Hunk }) {
  const coloured = useColouredDiff(hunk.lines, path);
  return hunk.lines.map((line) => {
    const key = `${line.oldNumber ?? ''}-${line.newNumber ?? ''}`;
    return (
      <Fragment key={key}>
        <tr data-line={line.line}>
          <NumberCell line={line} onComment={onComment} />
          <td className="sign" aria-hidden="true">
            {SIGNS[line.line]}
          </td>
          <CodeCell line={line} coloured={coloured} />
        </tr>
        <Below columns={3}>{below(line)}</Below>
      </Fragment>
    );
  });
}

function Sides({ hunk, path, onComment, below }: ReviewDiffProps & { readonly hunk: Hunk }) {
  const coloured = useColouredDiff(hunk.lines, path);
  return pairLines(hunk.lines).map(([old, now]) => {
    const key = `${old?.oldNumber ?? ''}-${now?.newNumber ?? ''}`;
    const isSame = old !== undefined && old === now;
    return (
      <Fragment key={key}>
        <tr>
          {isSame ? <td className="line-number">{old.oldNumber}</td> : <NumberCell line={old} onComment={onComment} />}
          <CodeCell line={old} coloured={coloured} />
          <NumberCell line={now} onComment={onComment} />
          <CodeCell line={now} coloured={coloured} />
        </tr>
        <Below columns={4}>{old && !isSame && below(old)}</Below>
        <Below columns={4}>{now && below(now)}</Below>
      </Fragment>
    );
  });
}

/** Of the new text, or of the old where the line is gone. */
function NumberCell({ line, onComment }: { readonly line: DiffLine | undefined } & Pick<ReviewDiffProps, 'onComment'>) {
  const number = line?.newNumber ?? line?.oldNumber;
  if (!line || number === undefined || !onComment)
    return (
      <td className="line-number" data-line={line?.line ?? 'none'}>
        {number}
      </td>
    );
  const words = line.line === 'removed' ? t('removed line {{line}}', { line: number }) : t('line {{line}}', { line: number });
  return (
    <td className="line-number" data-line={line.line}>
      <button
        type="button"
        tabIndex={-1}
        aria-label={t('Comment on {{words}}', { words })}
        title={t('Comment (c)')}
        onClick={() => onComment(line)}
      >
        {number}
      </button>
    </td>
  );
}

function CodeCell({ line, coloured }: { readonly line: DiffLine | undefined; readonly coloured: ColouredLines | undefined }) {
  if (!line) return <td className="code-cell" data-line="none" />;
  return (
    <td className="code-cell" data-line={line.line}>
      {line.line !== 'same' && <span className="sr-only">{t(SPOKEN[line.line])}</span>}
      <CodeLine line={line} coloured={coloured} />
    </td>
  );
}

function Below({ columns, children }: { readonly columns: number; readonly children: ReactNode }) {
  return (
    children && (
      <tr>
        <td colSpan={columns} className="below-line">
          {children}
        </td>
      </tr>
    )
  );
}

/** Whole hunks, up to a bound of lines; the first always. */
function firstHunks(hunks: readonly Hunk[]): readonly Hunk[] {
  let lines = 0;
  const end = hunks.findIndex((hunk, index) => (lines += hunk.lines.length) > AT_FIRST && index > 0);
  return end < 0 ? hunks : hunks.slice(0, end);
}

/** Arrows move between lines, `n` and `p` between hunks, `c` comments. */
function onKeys(event: KeyboardEvent, table: HTMLTableElement | null): void {
  if (!table || event.ctrlKey || event.metaKey || event.altKey || (event.target as HTMLElement).tagName === 'TEXTAREA') return;
  const lines = [...table.querySelectorAll<HTMLElement>('.line-number button')];
  const hunks = [...table.querySelectorAll<HTMLElement>('[data-hunk]')];
  const at = lines.indexOf(document.activeElement as HTMLElement);
  const hunk = hunks.findLastIndex((one) => one === document.activeElement || follows(document.activeElement, one));
  const next = {
    ArrowDown: at < 0 ? lines.find((line) => follows(line, document.activeElement)) : lines[at + 1],
    ArrowUp: at < 0 ? lines.findLast((line) => follows(document.activeElement, line)) : lines[at - 1],
    n: hunks[hunk + 1],
    p: hunks[Math.max(0, hunk - 1)],
  }[event.key];
  if (event.key === 'c' && at >= 0) lines[at]!.click();
  else if (!next) return;
  event.preventDefault();
  event.stopPropagation();
  next?.focus();
}

function follows(one: Element | null, other: Element | null): boolean {
  return one !== null && other !== null && Boolean(other.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
}
