import { ChevronDown, ChevronRight } from 'lucide-react';
import { between, duration } from '../copy/figures.ts';
import { Icon } from '../ui/icon.tsx';
import type { RowPlace } from './item-row.tsx';
import { repeatsFailure } from './failures.ts';
import { SpeechRow } from './speech-row.tsx';
import { StepRow } from './step-row.tsx';
import { type FoldItem, isFailure, type StepItem } from './stream-item.ts';
import type { Folds } from './use-folds.ts';
import { t } from '../lib/language/text.ts';

/** The middle of a turn that is over. */
export function FoldRow({ item, position, size, folds }: RowPlace & { readonly item: FoldItem; readonly folds: Folds }) {
  const isOpen = folds.isOpen(item.key, false);
  const steps = item.rows.filter((row) => row.type === 'step');
  const words = foldWords(steps);
  const last = steps.at(-1)!;
  const ms = between(item.at, last.observation?.timestamp ?? last.at);
  const n = steps.filter(isFailure).length;
  const failed = n > 0 && t('{{n}} failed', { n });
  return (
    <article
      className="event"
      id={`event-${item.id}`}
      tabIndex={-1}
      aria-label={[t('{{count}} steps', { count: steps.length }), words, failed].filter(Boolean).join(', ')}
      aria-posinset={position}
      aria-setsize={size}
    >
      <span className="gutter">
        <Icon of={isOpen ? ChevronDown : ChevronRight} />
      </span>
      <div className="fold">
        <button type="button" className="event-row" aria-expanded={isOpen} onClick={() => folds.set(item.key, !isOpen)}>
          <span className="verb">{t('{{count}} steps', { count: steps.length })}</span>
          <span className="detail">{words}</span>
          <span className="facts">
            {failed && <span className="tone-bad">{failed}</span>}
            {ms !== undefined && ms >= 1000 && <span>{duration(ms)}</span>}
          </span>
        </button>
        {isOpen && (
          <div className="thread">
            {item.rows.map((row, index) =>
              row.type === 'speech' ? (
                <SpeechRow key={row.key} item={row} position={position} size={size} />
              ) : (
                <StepRow
                  key={row.key}
                  step={row}
                  position={position}
                  size={size}
                  isNewest={false}
                  isPastFailure={isFailure(row)}
                  isRepeated={repeatsFailure(item.rows, index)}
                  runs={false}
                  live={undefined}
                  folds={folds}
                />
              ),
            )}
          </div>
        )}
      </div>
    </article>
  );
}

const WORDS: readonly (readonly [kinds: readonly string[], words: (n: number) => string])[] = [
  [['read'], (n) => t('read {{count}} files', { count: n })],
  [['edit', 'write'], (n) => t('changed {{count}} files', { count: n })],
  [['run'], (n) => t('ran {{count}} commands', { count: n })],
  [['run_ipython'], (n) => t('ran {{count}} cells', { count: n })],
  [['browse', 'browse_interactive'], (n) => (n > 1 ? t('used the browser {{n}} times', { n }) : t('used the browser'))],
  [['call_tool_mcp', 'mcp'], (n) => t('called {{count}} tools', { count: n })],
  [['recall'], () => t('read notes')],
  [['think'], (n) => t('{{count}} thoughts', { count: n })],
];

/**
 * "read 4 files, ran 3 commands".
 * @internal
 */
export function foldWords(steps: readonly StepItem[]): string {
  const kinds = steps.map((step) =>
    step.reasoning === undefined ? (step.action?.action ?? step.observation?.observation ?? '') : 'think',
  );
  return WORDS.flatMap(([of, words]) => {
    const n = kinds.filter((kind) => of.includes(kind)).length;
    return n > 0 ? [words(n)] : [];
  }).join(', ');
}
