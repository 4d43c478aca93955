import { ArrowDown } from 'lucide-react';
import { useEffect, useRef, useState, useMemo } from 'react';
import type { ConversationSnapshot, Gap } from '@tendon/client';
import type { Event } from '@tendon/protocol';
import { StreamingProse } from '../code/prose.tsx';
import { useConversation, openDecision } from '../conversation/open-conversation.ts';
import { type TurnSpan, turnSpans } from '../conversation/turn-spans.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Late } from '../ui/placeholder.tsx';
import { hasNewerFailure, repeatsFailure } from './failures.ts';
import type { ItemRowProps } from './item-row.tsx';
import { Placed, PlacedItem } from './placed-row.tsx';
import { ThinkingRow } from './thinking-row.tsx';
import { isUnread, OutboxRow, StickyTurn } from './turn-row.tsx';
import { type Folds, useFolds } from './use-folds.ts';
import { oneStop } from './one-stop.ts';
import { usePermalink } from './use-permalink.ts';
import { useStreamKeys } from './use-stream-keys.ts';
import { useVirtualRows } from './use-virtual-rows.ts';
import { StreamProjection } from './project-items.ts';
import { withReceipts } from './with-receipts.ts';
import { isPending, type StreamItem } from './stream-item.ts';
import { EarlierLine } from './gap-row.tsx';
import { useEarlier } from './use-earlier.ts';
import { t } from '../lib/language/text.ts';

/** Everything that happened, oldest first; only what is in view is in the document. */
export function Stream({ title = '' }: { readonly title?: string }) {
  const { snapshot } = useConversation();
  const { events, loaded } = snapshot;
  const rows = useRows(snapshot);
  const { items, keys } = rows;
  const scroller = useRef<HTMLDivElement>(null);
  const [focusedKey, setFocusedKey] = useState<string>();
  // By its key: rows that are loaded above move it.
  const focusedAt = useMemo(() => (focusedKey === undefined ? -1 : keys.indexOf(focusedKey)), [keys, focusedKey]);
  const focused = focusedAt < 0 ? undefined : focusedAt;
  const setFocused = (index: number | undefined) => setFocusedKey(index === undefined ? undefined : keys[index]);
  const missing = gapAbove(snapshot);
  const list = useVirtualRows(scroller, keys, (index) => estimateHeight(items[index]), {
    pinned: focused,
    paddingTop: missing ? ABOVE : 0,
  });
  const folds = useFolds();
  const earlier = useEarlier({ snapshot, items, list, missing });
  const go = useStreamKeys({ scroller, items, keys, focused, setFocused, list, loadFirst: earlier.loadFirst });
  usePermalink({ snapshot, items, folds, go });
  useEffect(() => oneStop(scroller.current), []);
  const seen = useSeen(events.at(-1)?.id ?? -1, events, list.isAtEnd);
  return (
    <div className="stream-frame">
      <div
        ref={scroller}
        className="stream scroll"
        // A feed has articles; one that has none yet is no feed.
        role={items.length > 0 ? 'feed' : 'group'}
        aria-label={t('Events')}
        aria-busy={!loaded || earlier.isLoading}
        tabIndex={0}
        onBlur={(event) => !event.currentTarget.contains(event.relatedTarget) && setFocused(undefined)}
      >
        {!loaded && items.length === 0 && <Loading events={events.length} />}
        <div className="stream-window" style={{ paddingBottom: list.below }}>
          {missing && <EarlierLine missing={missing} earlier={earlier} />}
          {list.rows.map(({ index, gap }) => {
            const place = { index, gap, rowKey: keys[index]!, measure: list.measure, onFocus: setFocusedKey };
            const item = itemProps(rows, index, snapshot);
            if (item) return <PlacedItem key={place.rowKey} {...place} {...item} folds={folds} />;
            return (
              <Placed key={place.rowKey} {...place}>
                <LastRow rows={rows} index={index} folds={folds} />
              </Placed>
            );
          })}
        </div>
      </div>
      <StickyTurn title={title} items={items} first={list.first} isAtTop={list.above <= 0} onGo={(index) => list.toRow(index, 'start')} />
      {!list.isAtEnd && (
        <Button className="new-events" onClick={list.toEnd}>
          {seen > 0 ? t('{{count}} new events', { count: seen }) : t('To the newest')}
          <Icon of={ArrowDown} small />
        </Button>
      )}
    </div>
  );
}

/** States in which a step that began still runs. */
const RUNS: ReadonlySet<string> = new Set(['running', 'paused', 'user_confirmed']);

function Loading({ events }: { readonly events: number }) {
  return (
    <div className="p-4">
      <Late>{events > 0 ? t('Loading {{count}} events', { count: events }) : t('Loading the history')}</Late>
    </div>
  );
}

/** Nothing for a row that is no item. */
function itemProps(
  rows: Rows,
  index: number,
  { outputs, state, connection }: ConversationSnapshot,
): Omit<ItemRowProps, 'folds'> | undefined {
  const item = rows.items[index];
  const known = connection.state === 'connected' ? 'known' : 'unknown';
  return (
    item && {
      item,
      position: index + 1,
      size: rows.size,
      isNewest: rows.newest.has(index),
      isPastFailure: hasNewerFailure(rows.items, index),
      isRepeated: repeatsFailure(rows.items, index),
      isUnread: item.type === 'turn' && isUnread(state, item.id),
      runs: item.type === 'step' && isPending(item) && RUNS.has(state.agentState) && known,
      live: item.type === 'step' && item.action ? outputs.get(item.action.id) : undefined,
    }
  );
}

/** What stands behind the items. */
function LastRow({ rows, index, folds }: { readonly rows: Rows; readonly index: number; readonly folds: Folds }) {
  const { outbox } = useConversation().snapshot;
  const { items, thinking, answer } = rows;
  const place = { position: index + 1, size: rows.size };
  if (index === items.length && thinking) return <ThinkingRow {...thinking} {...place} folds={folds} />;
  const answerAt = items.length + (thinking ? 1 : 0);
  if (index === answerAt && answer !== undefined) {
    return (
      <article className="event" tabIndex={-1} aria-label={t('Partial answer')} aria-posinset={index + 1} aria-setsize={rows.size}>
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
function useSeen(newest: number, events: ConversationSnapshot['events'], isAtEnd: boolean): number {
  const mark = useRef(newest);
  if (isAtEnd) mark.current = newest;
  let at = events.length;
  while (at > 0 && events[at - 1]!.id > mark.current) at -= 1;
  return events.length - at;
}

/** Height of the line that stands above the first event while there are earlier ones. */
const ABOVE = 28;

/** What is not loaded before the first event. */
function gapAbove({ events, gaps }: ConversationSnapshot): Gap | undefined {
  const [first] = gaps;
  return first && events.length > 0 && first.from < events[0]!.id ? first : undefined;
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
  /** For `aria-setsize`: −1 while it is not known, because more is coming or not everything is loaded. */
  readonly size: number;
}

function useRows({ events, gaps, answer, outbox, state }: ConversationSnapshot): Rows {
  const [projection] = useState(() => new StreamProjection());
  const isOver = AT_REST.has(state.agentState);
  const spans = useTurnSpans(events, gaps, isOver);
  const decision = openDecision(state)?.id;
  const items = useMemo(() => {
    const projected = projection.items(events, gaps, isOver);
    // What waits for a decision is shown once, in the composer.
    const shown = decision === undefined ? projected : projected.filter((item) => item.id !== decision || item.type !== 'step');
    return withReceipts(shown, spans);
  }, [projection, events, gaps, isOver, decision, spans]);
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
  const size = gaps.length === 0 && isOver ? keys.length : -1;
  return { items, newest, thinking, answer: hasAnswer ? answer!.text : undefined, keys, size };
}

/** While the agent works no turn ends, so nothing is looked for. */
function useTurnSpans(events: readonly Event[], gaps: readonly Gap[], isOver: boolean): readonly TurnSpan[] {
  const settled = useRef<readonly Event[]>(events);
  if (isOver) settled.current = events;
  const { current } = settled;
  const spans = useMemo(() => turnSpans(current), [current]);
  // Of a turn that is loaded in part nothing is claimed.
  return useMemo(() => spans.filter(({ start, end }) => !gaps.some(({ from, to }) => from <= end && to > start)), [spans, gaps]);
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
    case 'gap':
      return 28;
    case 'step':
    case 'fold':
      return 32;
    case 'receipt':
      return 72;
    case 'turn':
    case undefined:
      return 44;
  }
}
