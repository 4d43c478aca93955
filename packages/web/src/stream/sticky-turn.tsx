import type { RefObject } from 'react';
import type { StreamItem, TurnItem } from './stream-item.ts';
import { firstLine } from '../copy/state-sentence.ts';
import { TurnLine } from './turn-row.tsx';

/** The message that what is in view belongs to, once its own row has gone above the edge. For the eye only: the row itself is in the feed. */
export function StickyTurn(props: {
  readonly items: readonly StreamItem[];
  readonly first: number;
  readonly scroller: RefObject<HTMLElement | null>;
  readonly onGo: (index: number) => void;
}) {
  const { items, first, scroller, onGo } = props;
  const index = items.findLastIndex((item, at) => at <= first && item.type === 'turn');
  const isAtTop = (scroller.current?.scrollTop ?? 0) <= 0;
  if (index < 0 || isAtTop) return null;
  const turn = items[index] as TurnItem;
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- `[` does the same
    <div className="turn-sticky" aria-hidden="true" onClick={() => onGo(index)}>
      <div className="turn">
        <TurnLine text={firstLine(turn.text)} at={turn.at} />
      </div>
    </div>
  );
}
