import { ArrowDown } from 'lucide-react';
import { useEffect, useRef, useState, useMemo } from 'react';
import type { ConversationSnapshot } from '@tendon/client';
import { StreamingProse } from '../code/prose.tsx';
import { useConversation, openDecision } from '../conversation/open-conversation.ts';
import { count } from '../copy/figures.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Late } from '../ui/placeholder.tsx';
import { ItemRow } from './item-row.tsx';
import { ThinkingRow } from './thinking-row.tsx';
import { OutboxRow, StickyTurn } from './turn-row.tsx';
import { type Folds, useFolds } from './use-folds.ts';
import { useStreamKeys } from './use-stream-keys.ts';
import { useVirtualRows } from './use-virtual-rows.ts';
import { foldTurns, projectItems } from './project-items.ts';
import { isPending, type StreamItem } from './stream-item.ts';

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
  const { items, newest, thinking, answer, keys } = rows;
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
  const place = { position: index + 1, size: keys.length };
  if (index === items.length && thinking) return <ThinkingRow {...thinking} {...place} folds={folds} />;
  const answerAt = items.length + (thinking ? 1 : 0);
  if (index === answerAt && answer !== undefined) {
    return (
      <article className="event" tabIndex={-1} aria-label="Partial answer" aria-posinset={index + 1} aria-setsize={keys.length}>
        <span />
        <div className="speech">
          <StreamingProse text={answer} />
        </div>
      </article>
    );
  }
  const entry = outbox[index - answerAt - (answer === undefined ? 0 : 1)];
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

const AT_REST: ReadonlySet<string> = new Set(['finished', 'stopped', 'rejected', 'error', 'awaiting_user_input']);

/** What the stream shows, from top to bottom: the items, what the model thinks, the partial answer, the messages that are not sent yet. */
interface Rows {
  readonly items: readonly StreamItem[];
  /** Those of `items` that are open unless a person folded them. */
  readonly newest: ReadonlySet<number>;
  /** What it thinks before its answer, under the id that the answer will have. */
  readonly thinking: { readonly turn: number; readonly text: string } | undefined;
  readonly answer: string | undefined;
  /** One for each row, stable over time. */
  readonly keys: readonly string[];
}

function useRows({ events, answer, outbox, state }: ConversationSnapshot): Rows {
  const isOver = AT_REST.has(state.agentState);
  const decision = openDecision(state)?.id;
  const items = useMemo(() => {
    const projected = foldTurns(projectItems(events), isOver);
    // What waits for a decision is shown once, in the composer.
    return decision === undefined ? projected : projected.filter((item) => item.id !== decision || item.type !== 'step');
  }, [events, isOver, decision]);
  const newest = useMemo(() => newestSteps(items), [items]);
  const hasAnswer = Boolean(answer?.text.trim());
  const isThinking = Boolean(answer?.reasoning.trim());
  const keys = useMemo(
    () => [
      ...items.map((item) => item.key),
      ...(isThinking ? ['thinking'] : []),
      ...(hasAnswer ? ['answer'] : []),
      ...outbox.map((entry) => `out-${entry.clientId}`),
    ],
    [items, isThinking, hasAnswer, outbox],
  );
  const thinking = isThinking ? { turn: answer!.turn, text: answer!.reasoning } : undefined;
  return { items, newest, thinking, answer: hasAnswer ? answer!.text : undefined, keys };
}

/** Where the newest step stands, and the newest command of the same turn: a person who comes back wants to see its output. */
function newestSteps(items: readonly StreamItem[]): ReadonlySet<number> {
  const turn = items.findLastIndex((item) => item.type === 'turn');
  const newest = items.findLastIndex((item) => item.type === 'step' && item.action?.action !== 'finish');
  const command = items.findLastIndex((item) => item.type === 'step' && item.action?.action === 'run');
  // What runs is shown while it runs, also behind a message that came in between.
  const running = items.findLastIndex((item) => item.type === 'step' && isPending(item));
  return new Set([...[newest, command].filter((index) => index > turn), running]);
}

/** Pixels a row will take before it was measured, by kind. */
function estimateHeight(item: StreamItem | undefined): number {
  switch (item?.type) {
    case 'speech':
      return 12 + 22 * Math.ceil(item.text.length / 68);
    case 'note':
      return 28;
    case 'step':
    case 'fold':
      return 32;
    case 'turn':
    case undefined:
      return 44;
  }
}
