import { ArrowDown } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { StreamingProse } from '../code/prose.tsx';
import { useConversation } from '../conversation/open-conversation.ts';
import { count } from '../copy/counts.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Late } from '../ui/placeholder.tsx';
import { ItemRow } from './item-row.tsx';
import { estimateHeight, type Rows, useRows } from './rows.ts';
import { OutboxRow, StickyTurn } from './turn-row.tsx';
import { type Folds, useFolds } from './use-folds.ts';
import { useStreamKeys } from './use-stream-keys.ts';
import { useVirtualRows } from './use-virtual-rows.ts';

/** Everything that happened, oldest first; only what is in view is in the document. */
export function Stream() {
  const { snapshot } = useConversation();
  const { events, loaded } = snapshot;
  const rows = useRows(snapshot);
  const { items, keys } = rows;
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<number>();
  const list = useVirtualRows(scroller, keys, (index) => estimateHeight(items[index]), focused);
  const folds = useFolds();
  useStreamKeys({ scroller, items, keys, focused, setFocused, list });
  const seen = useSeen(events.length, list.isAtEnd);
  return (
    <div className="stream-frame">
      <div
        ref={scroller}
        className="stream scroll"
        // A feed has articles; one that has none yet is no feed.
        role={items.length > 0 ? 'feed' : 'group'}
        aria-label="Events"
        aria-busy={!loaded}
        tabIndex={0}
        onBlur={(event) => !event.currentTarget.contains(event.relatedTarget) && setFocused(undefined)}
      >
        {!loaded && items.length === 0 && (
          <div className="p-4">
            <Late>{events.length > 0 ? `Loading ${count(events.length, 'event')}` : 'Loading the history'}</Late>
          </div>
        )}
        <div className="stream-window" style={{ height: list.total }}>
          {list.rows.map(({ index, top }) => (
            <div
              key={keys[index]}
              ref={list.measure}
              className="absolute inset-x-0"
              style={{ top }}
              data-row={index}
              onFocus={() => setFocused(index)}
            >
              <Row rows={rows} index={index} folds={folds} />
            </div>
          ))}
        </div>
      </div>
      <StickyTurn items={items} first={list.first} scroller={scroller} onGo={(index) => list.toRow(index, 'start')} />
      {!list.isAtEnd && (
        <Button className="new-events" onClick={list.toEnd}>
          {seen > 0 ? count(seen, 'new event') : 'To the newest'}
          <Icon of={ArrowDown} small />
        </Button>
      )}
    </div>
  );
}

function Row({ rows, index, folds }: { readonly rows: Rows; readonly index: number; readonly folds: Folds }) {
  const { outbox, outputs } = useConversation().snapshot;
  const { items, newest, answer, keys } = rows;
  const item = items[index];
  if (item) {
    return (
      <ItemRow
        item={item}
        position={index + 1}
        size={keys.length}
        isNewest={newest.has(index)}
        live={item.type === 'step' && item.action ? outputs.get(item.action.id) : undefined}
        folds={folds}
      />
    );
  }
  if (index === items.length && answer !== undefined) {
    return (
      <article className="event" tabIndex={-1} aria-label="Partial answer" aria-posinset={index + 1} aria-setsize={keys.length}>
        <span />
        <div className="speech">
          <StreamingProse text={answer} />
        </div>
      </article>
    );
  }
  const entry = outbox[index - items.length - (answer === undefined ? 0 : 1)];
  return entry && <OutboxRow entry={entry} />;
}

/** How many events came since the end was last in view. */
function useSeen(total: number, isAtEnd: boolean): number {
  const [mark, setMark] = useState(total);
  useEffect(() => {
    if (isAtEnd) setMark(total);
  }, [isAtEnd, total]);
  return isAtEnd ? 0 : Math.max(0, total - mark);
}
