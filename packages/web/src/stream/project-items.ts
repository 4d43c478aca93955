import type { Gap } from '@tendon/client';
import type { Event } from '@tendon/protocol';
import { EventRows } from './event-rows.ts';
import { foldTurns } from './fold-turns.ts';
import type { StreamItem } from './stream-item.ts';

/** The rows that a list of events is read as, oldest first. A pure function of the events. */
export function projectItems(events: readonly Event[]): readonly StreamItem[] {
  const rows = new EventRows();
  for (const event of events) rows.add(event);
  return rows.items;
}

interface Projected {
  readonly events: readonly Event[];
  readonly gaps: readonly Gap[];
  readonly rows: EventRows;
}

/** What of the folded rows does not change with the next event. */
interface FoldedHead {
  /** Where the last turn begins in the rows. */
  readonly end: number;
  readonly items: readonly StreamItem[];
}

/**
 * The folded rows of a list of events that mostly grows at its end: only what is new is projected and folded. It owns the rows of the last
 * call; anything but growth is projected anew.
 */
export class StreamProjection {
  #last: Projected = { events: [], gaps: [], rows: new EventRows() };
  #head: FoldedHead = { end: 0, items: [] };

  /** `isOver`: the last turn too. A gap before the first event is no row. */
  items(events: readonly Event[], gaps: readonly Gap[], isOver: boolean): readonly StreamItem[] {
    const rows = this.#rows(events, gaps);
    const lastTurn = Math.max(
      0,
      rows.items.findLastIndex((item) => item.type === 'turn'),
    );
    if (this.#head.end !== lastTurn || rows.changedFrom < lastTurn) {
      this.#head = { end: lastTurn, items: foldTurns(rows.items.slice(0, lastTurn), true) };
    }
    rows.changedFrom = Number.POSITIVE_INFINITY;
    return [...this.#head.items, ...foldTurns(rows.items.slice(lastTurn), isOver)];
  }

  #rows(events: readonly Event[], gaps: readonly Gap[]): EventRows {
    const last = this.#last;
    const known = last.events.length;
    // What was inserted before the newest event has moved it.
    const hasGrown = gaps === last.gaps && known > 0 && events[0] === last.events[0] && events[known - 1] === last.events[known - 1];
    const rows = hasGrown ? last.rows : new EventRows();
    if (!hasGrown) this.#head = { end: -1, items: [] };
    for (let at = hasGrown ? known : 0; at < events.length; at += 1) {
      const missing = at > 0 && gaps.length > 0 ? gapBefore(gaps, events[at - 1]!.id, events[at]!.id) : undefined;
      if (missing) rows.addGap(missing.from, missing.to);
      rows.add(events[at]!);
    }
    this.#last = { events, gaps, rows };
    return rows;
  }
}

function gapBefore(gaps: readonly Gap[], before: number, after: number): Gap | undefined {
  return gaps.find((gap) => gap.from > before && gap.to <= after);
}
