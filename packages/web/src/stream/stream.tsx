import { ArrowDown } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { StreamingProse } from '../code/prose.tsx';
import { openDecision, useConversation } from '../conversation/open-conversation.ts';
import { count } from '../copy/counts.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Late } from '../ui/placeholder.tsx';
import { estimateHeight } from './estimate-height.ts';
import { foldTurns } from './fold-turns.ts';
import { ItemRow } from './item-row.tsx';
import { newestSteps } from './newest-steps.ts';
import { OutboxRow } from './outbox-row.tsx';
import { projectItems } from './project-items.ts';
import { StickyTurn } from './turn-row.tsx';
import { useFolds } from './use-folds.ts';
import { useStreamKeys } from './use-stream-keys.ts';
import { useVirtualRows } from './use-virtual-rows.ts';

const AT_REST: ReadonlySet<string> = new Set(['finished', 'stopped', 'rejected', 'error', 'awaiting_user_input']);

/** Everything that happened, oldest first; only what is in view is in the document. */
export function Stream() {
  const { snapshot } = useConversation();
  const { events, answer, outbox, loaded, state, outputs } = snapshot;
  const isOver = AT_REST.has(state.agentState);
  const decision = openDecision(state)?.id;
  const items = useMemo(() => {
    const projected = foldTurns(projectItems(events), isOver);
    // What waits for a decision is shown once, in the composer.
    return decision === undefined ? projected : projected.filter((item) => item.id !== decision || item.type !== 'step');
  }, [events, isOver, decision]);
  const newest = useMemo(() => newestSteps(items), [items]);
  const hasAnswer = Boolean(answer?.text.trim());
  const keys = useMemo(
    () => [...items.map((item) => item.key), ...(hasAnswer ? ['answer'] : []), ...outbox.map((entry) => `out-${entry.clientId}`)],
    [items, hasAnswer, outbox],
  );
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<number>();
  const estimate = (index: number) => (items[index] ? estimateHeight(items[index]) : 44);
  const list = useVirtualRows(scroller, keys, estimate, focused);
  const folds = useFolds();
  useStreamKeys({ scroller, items, keys, focused, setFocused, list, folds });
  const seen = useSeen(events.length, list.isAtEnd);

  const content = (index: number) => {
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
    if (index === items.length && hasAnswer) {
      return (
        <article className="event" tabIndex={-1} aria-label="Partial answer" aria-posinset={index + 1} aria-setsize={keys.length}>
          <span />
          <div className="speech">
            <StreamingProse text={answer!.text} />
          </div>
        </article>
      );
    }
    const entry = outbox[index - items.length - (hasAnswer ? 1 : 0)];
    return entry && <OutboxRow entry={entry} />;
  };

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
        onScroll={list.onScroll}
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
              ref={(element) => list.measure(keys[index]!, element)}
              className="absolute inset-x-0"
              style={{ top }}
              data-row={index}
              onFocus={() => setFocused(index)}
            >
              {content(index)}
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

/** How many events came since the end was last in view. */
function useSeen(total: number, isAtEnd: boolean): number {
  const [mark, setMark] = useState(total);
  useEffect(() => {
    if (isAtEnd) setMark(total);
  }, [isAtEnd, total]);
  return isAtEnd ? 0 : Math.max(0, total - mark);
}
