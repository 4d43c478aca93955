import { memo, Suspense } from 'react';
import { clock } from '../copy/figures.ts';
import { FoldRow } from './fold-row.tsx';
import { GapRow } from './gap-row.tsx';
import { SpeechRow } from './speech-row.tsx';
import { type Runs, StepRow } from './step-row.tsx';
import type { StreamItem } from './stream-item.ts';
import { TurnRow } from './turn-row.tsx';
import type { Folds } from './use-folds.ts';
import { lazyPart } from '../lib/lazy-part.ts';

export interface RowPlace {
  /** Counted from 1, for `aria-posinset`. */
  readonly position: number;
  readonly size: number;
}

export interface ItemRowProps extends RowPlace {
  readonly item: StreamItem;
  readonly isNewest: boolean;
  readonly isPastFailure: boolean;
  readonly isRepeated: boolean;
  readonly runs: Runs;
  /** Of a message: the agent reads it after the step that runs. */
  readonly isUnread: boolean;
  readonly live: string | undefined;
  readonly folds: Folds;
}

const ReceiptRow = lazyPart(async () => ({ default: (await import('./receipt-row.tsx')).ReceiptRow }));

export const ItemRow = memo(function ItemRow({ item, ...props }: ItemRowProps) {
  switch (item.type) {
    case 'turn':
      return <TurnRow item={item} {...props} />;
    case 'step':
      return <StepRow step={item} {...props} />;
    case 'fold':
      return <FoldRow item={item} {...props} />;
    case 'gap':
      return <GapRow item={item} {...props} />;
    case 'receipt':
      return (
        <Suspense fallback={<div className="receipt-place" />}>
          <ReceiptRow span={item.span} {...props} />
        </Suspense>
      );
    case 'speech':
      return <SpeechRow item={item} {...props} />;
    case 'note':
      return (
        <article
          className="note"
          id={`event-${item.id}`}
          tabIndex={-1}
          aria-label={item.text}
          aria-posinset={props.position}
          aria-setsize={props.size}
        >
          {item.text}
          <time dateTime={item.at} title={item.at}>
            {clock(item.at)}
          </time>
        </article>
      );
  }
});
