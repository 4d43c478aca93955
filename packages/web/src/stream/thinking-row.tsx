import { Lightbulb } from 'lucide-react';
import { StreamingProse } from '../code/prose.tsx';
import { cut, firstSentence } from '../copy/shorten.ts';
import { Icon } from '../ui/icon.tsx';
import type { RowPlace } from './item-row.tsx';
import type { Folds } from './use-folds.ts';
import { t } from '../lib/language/text.ts';

/** What the model thinks while it does: folded, with its latest sentence. When it was opened, the step that replaces it is open too. */
export function ThinkingRow(props: RowPlace & { readonly turn: number; readonly text: string; readonly folds: Folds }) {
  const { turn, text, position, size, folds } = props;
  const key = `r${turn}`;
  const isOpen = folds.isOpen(key, false);
  return (
    <article className="event" tabIndex={-1} aria-label={t('Thinking')} aria-posinset={position} aria-setsize={size}>
      <span className="gutter">
        <Icon of={Lightbulb} />
      </span>
      <div className="min-w-0">
        <div className="event-head">
          <button type="button" className="event-row" aria-expanded={isOpen} onClick={() => folds.set(key, !isOpen)}>
            <span className="verb">{t('Thinking')}</span>
            <span className="detail">{latestSentence(text)}</span>
            <span className="facts" />
          </button>
        </div>
        {isOpen && (
          <div className="event-body">
            <StreamingProse text={text} />
          </div>
        )}
      </div>
    </article>
  );
}

/** The one that is being written. */
function latestSentence(text: string): string {
  const parts = text.trim().split(/(?<=[.!?:])\s+|\n+/);
  return cut(firstSentence(parts.at(-1) ?? ''), 160);
}
