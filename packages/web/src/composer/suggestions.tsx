import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { fuzzyMatches } from '../lib/commands.ts';
import { t } from '../lib/language/text.ts';

export interface Suggestion {
  readonly name: string;
  readonly about?: string;
  /** Put in place of the word. */
  readonly insert?: string;
  readonly run?: () => void;
}

const MAX_ROWS = 8;

/** A listbox above the caret. The field keeps the focus; arrows choose, ⏎ and Tab take, Esc closes. */
export function Suggestions(props: {
  readonly word: WordAt | undefined;
  readonly offered: readonly Suggestion[];
  readonly onPick: (suggestion: Suggestion) => void;
  readonly children: (suggestions: {
    readonly fieldProps: Record<string, unknown>;
    /** Whether the key was taken. */
    readonly onKeyDown: (event: KeyboardEvent) => boolean;
  }) => ReactNode;
}) {
  const { word, offered, onPick } = props;
  const id = useId();
  const [chosen, setChosen] = useState(0);
  const [closedAt, setClosedAt] = useState(-1);
  const hits = word && word.start !== closedAt ? offered.filter((one) => fuzzyMatches(word.typed, one.name)).slice(0, MAX_ROWS) : [];
  const isOpen = hits.length > 0;
  const at = Math.min(chosen, hits.length - 1);

  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!word && closedAt >= 0) setClosedAt(-1);
    if (!isOpen) return false;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) setChosen((at + step + hits.length) % hits.length);
    else if (event.key === 'Escape') setClosedAt(word!.start);
    else if ((event.key === 'Enter' && !event.shiftKey) || event.key === 'Tab') onPick(hits[at]!);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const fieldProps = {
    ...(isOpen && { role: 'combobox', 'aria-expanded': true, 'aria-controls': id, 'aria-activedescendant': `${id}-${at}` }),
  };
  return (
    <div className="relative">
      {isOpen && <Options id={id} label={word?.sign === '@' ? t('Files') : t('Commands')} hits={hits} at={at} onPick={onPick} />}
      {props.children({ fieldProps, onKeyDown })}
    </div>
  );
}

function Options(props: {
  readonly id: string;
  readonly label: string;
  readonly hits: readonly Suggestion[];
  readonly at: number;
  readonly onPick: (suggestion: Suggestion) => void;
}) {
  const { id, label, hits, at, onPick } = props;
  return (
    <div id={id} role="listbox" aria-label={label} className="popup scroll mx-3" data-side="above" data-align="start">
      {hits.map((one, index) => (
        <div
          key={one.name}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          className="option"
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onPick(one)}
        >
          <span className="mono">{one.name}</span>
          {one.about && <span className="truncate text-ink-3">{one.about}</span>}
        </div>
      ))}
    </div>
  );
}

interface WordAt {
  readonly sign: '/' | '@';
  /** Where its sign stands. */
  readonly start: number;
  /** What follows the sign, up to the caret. */
  readonly typed: string;
}

/** The word with `/` (only at the start of the text) or `@` that the caret stands in. */
export function wordAt(text: string, caret: number): WordAt | undefined {
  const start = Math.max(text.lastIndexOf(' ', caret - 1), text.lastIndexOf('\n', caret - 1)) + 1;
  const sign = text[start];
  if (start >= caret || (sign !== '@' && !(sign === '/' && start === 0))) return undefined;
  return { sign, start, typed: text.slice(start + 1, caret) };
}
