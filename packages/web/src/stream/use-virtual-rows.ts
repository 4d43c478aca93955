/**
 * Owns which rows of a long list are in the document, and whether it follows its end. Does not own what is computed of their heights:
 * that is `@tanstack/react-virtual`.
 *
 * Invariants
 * UVR1  Rows are measured once and the height is stored under their key until they change their size themselves, or the list its width.
 *       They stand below each other in the document, so that another height moves those behind it without drawing them.
 * UVR2  Unless the list follows its end, the first visible row stays where it is, whatever is measured or added around it.
 * UVR3  The row that has the focus is in the document, wherever the list stands.
 * UVR4  A row that is near the view stays in the document: what a new row moves by its height leaves and comes back with none.
 */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type Range,
  type VirtualItem,
  type VirtualizerOptions,
} from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useReducer, useRef, useState, type RefObject } from 'react';
import { forgetHeights, knownHeight, type List, measureHeight } from './row-heights.ts';
import { END_WITHIN, type Following, isAtEnd, useFollowing } from './use-following.ts';

/** How many rows beyond the view are drawn when some are missing there, at least, and at most. */
const [OVERSCAN, LEAST, MOST] = [8, 2, 14];

export interface VirtualRow {
  readonly index: number;
  /** Pixels between it and the row before it, or the top: of rows that are not drawn. */
  readonly gap: number;
}

export interface VirtualRows {
  readonly rows: readonly VirtualRow[];
  /** Pixels below the last of them. */
  readonly below: number;
  /** Whether the end is in view, so that new rows are followed. */
  readonly isAtEnd: boolean;
  /** The first row in view. */
  readonly first: number;
  /** Pixels that are scrolled out of view above; infinite before there is a layout. */
  readonly above: number;
  /** The `ref` of a row's element, which names its index in `data-row`. */
  readonly measure: (element: HTMLElement | null) => void;
  readonly toEnd: () => void;
  readonly toRow: (index: number, block?: 'start' | 'nearest') => void;
}

const OPTIONS = {
  scrollToFn: elementScroll,
  indexAttribute: 'data-row',
  overscan: 0,
  // What changes above the first visible row moves it by as much as the list is scrolled.
  anchorTo: 'end',
  scrollEndThreshold: END_WITHIN,
  // A turn's header covers the first 48 px.
  scrollPaddingStart: END_WITHIN,
  scrollPaddingEnd: 8,
} as const;

export function useVirtualRows(
  scroller: RefObject<HTMLElement | null>,
  keys: readonly string[],
  estimate: (index: number) => number,
  { pinned, paddingTop }: { readonly pinned: number | undefined; readonly paddingTop: number },
): VirtualRows {
  const following = useFollowing(scroller);
  const anchor = useWidthAnchor();
  const drawn = useDrawnRange(pinned);
  const [, draw] = useReducer((times: number) => times + 1, 0);
  const list = useList({
    ...OPTIONS,
    ...scrollingOf(scroller, following, anchor),
    count: keys.length,
    getItemKey: useCallback((index: number) => keys[index]!, [keys]),
    estimateSize: estimate,
    // A list that follows its end measures all its rows when they are all in the document.
    measureElement: (element, entry, instance) =>
      !entry && following.is() ? knownHeight(element, instance) : measureHeight(element, entry, instance),
    paddingStart: paddingTop,
    rangeExtractor: drawn.extract,
    onChange: (instance) => {
      if (following.isMeasuring()) return;
      if (following.is() && !following.isEnd(instance)) following.toEnd(instance);
      if (!following.is() || !drawn.isFor(instance)) draw();
    },
  });
  list.shouldAdjustScrollPositionOnItemSizeChange = isAboveView;
  const total = list.getTotalSize();
  // To draw the rows that will be in view.
  if (following.is() && !following.isEnd(list)) list.scrollOffset = Math.max(0, total - (list.scrollRect?.height ?? 0));
  const shown = list.getVirtualItems();
  const first = list.range?.startIndex ?? 0;
  const before = useRowsBefore(list, keys);
  // Only where the layout is another one: to look at it forces the browser to make it at once.
  useLayoutEffect(() => {
    const still = following.is() ? null : scroller.current;
    anchor.onLayout(list, still);
    before.restore(still);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- what else it reads are references
  }, [total, keys, anchor.widths(), following.is()]);
  // Once the panels beside it have what came too, so that the layout is made once; still before the next frame (`main.tsx`).
  useEffect(() => {
    if (!following.is()) return;
    following.toEnd(list);
    if (!drawn.isFor(list)) draw();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- what else it reads are references
  }, [total, keys, anchor.widths(), following.is()]);
  return {
    rows: shown.map(({ index, start }, at) => ({ index, gap: start - (shown[at - 1]?.end ?? 0) })),
    below: total - (shown.at(-1)?.end ?? 0),
    above: following.is() ? total - (list.scrollRect?.height || Number.NEGATIVE_INFINITY) : (list.scrollOffset ?? 0),
    isAtEnd: following.is(),
    first,
    measure: list.measureElement,
    toEnd: () => (following.set(true), list.scrollToEnd()),
    toRow: (index, block = 'nearest') => {
      list.scrollToIndex(index, { align: block === 'start' ? 'start' : 'auto' });
      following.set(isAtEnd(scroller.current));
    },
  };
}

/** What scrolls the list, and what its scrolling and its size are to it. */
function scrollingOf(scroller: RefObject<HTMLElement | null>, following: Following, anchor: ReturnType<typeof useWidthAnchor>) {
  return {
    getScrollElement: () => scroller.current,
    // Another size of the frame, as when the composer grows, is no scrolling.
    observeElementRect: (list, onRect) =>
      observeElementRect(list, (rect) => {
        anchor.onWidth(list, rect.width);
        onRect(rect);
        if (!following.is()) return;
        anchor.onLayout(list, null);
        following.toEnd(list);
      }),
    // Only scrolling ends the following of the end; a list that grows does not.
    observeElementOffset: (list, onOffset) =>
      observeElementOffset(list, (offset, isScrolling) => {
        // It went there itself.
        if (following.is() && !list.isScrolling && offset === list.scrollOffset) return;
        if (isScrolling) following.onScroll();
        onOffset(offset, isScrolling);
        anchor.onOffset(list);
      }),
  } satisfies Partial<VirtualizerOptions<HTMLElement, HTMLElement>>;
}

/** As `useVirtualizer`, which draws the list again whenever a row has another height. */
function useList(options: VirtualizerOptions<HTMLElement, HTMLElement>): List {
  const [list] = useState(() => new Virtualizer(options));
  list.setOptions(options);
  useLayoutEffect(() => list._didMount(), [list]);
  useLayoutEffect(() => list._willUpdate());
  return list;
}

/**
 * Keeps what is read in its place when the first visible row is not a row any more, because what was loaded above it has joined it (UVR2). Of
 * a row that is still one the list takes care itself.
 */
function useRowsBefore(list: List, keys: readonly string[]) {
  const shown = useRef<{ readonly keys: readonly string[]; readonly places: readonly (readonly [key: string, place: number])[] }>(
    undefined,
  );
  return {
    restore(scroller: HTMLElement | null) {
      const last = shown.current;
      const offset = list.scrollOffset ?? 0;
      const [first] = last?.places ?? [];
      if (scroller && last && last.keys !== keys && first && !keys.includes(first[0])) {
        const still = last.places.find(([key]) => keys.includes(key));
        const row = still && list.measurementsCache[keys.indexOf(still[0])];
        if (row) {
          scroller.scrollTop = row.start - still[1];
          list.scrollOffset = scroller.scrollTop;
        }
      }
      const visible = list.getVirtualItems().filter((row) => row.end > (list.scrollOffset ?? offset));
      shown.current = { keys, places: visible.map((row) => [String(row.key), row.start - (list.scrollOffset ?? offset)]) };
    },
  };
}

/** The first visible row, and how far the list is scrolled past its top. */
interface Anchor {
  readonly index: number;
  readonly offset: number;
}

/** Puts the first visible row back in its place when the list has got another width (UVR2). */
function useWidthAnchor() {
  const width = useRef<number>(undefined);
  const anchor = useRef<Anchor>(undefined);
  const isDue = useRef(false);
  const count = useRef(0);
  return {
    /** How many widths there were. */
    widths: () => count.current,
    onWidth(list: List, next: number) {
      const isOther = width.current !== undefined && width.current !== next;
      width.current = next;
      // What is due stays due until the layout: the frame may change its height alone before that.
      if (!isOther) return;
      forgetHeights(list);
      isDue.current = true;
      count.current += 1;
      const place = placeOf(list, anchor.current);
      // At once, so that the rows that are rendered next are those around the anchor, and know what is above the view.
      if (place !== undefined) list.scrollOffset = place;
    },
    onOffset(list: List) {
      // Until the layout the frame is scrolled by the old heights: a scroll that is reported meanwhile would find another row there.
      if (isDue.current) return;
      const offset = list.scrollOffset ?? 0;
      const first = list.getVirtualItemForOffset(offset);
      anchor.current = first && { index: first.index, offset: offset - first.start };
    },
    onLayout(list: List, scroller: HTMLElement | null) {
      const place = isDue.current ? placeOf(list, anchor.current) : undefined;
      if (place !== undefined && scroller) {
        scroller.scrollTop = place;
        // At once, not with the event: rows that are measured now must know what is above the view.
        list.scrollOffset = scroller.scrollTop;
      }
      isDue.current = false;
    },
  };
}

/** How far the list is scrolled when the anchor is the first visible row. */
function placeOf(list: List, anchor: Anchor | undefined): number | undefined {
  list.getTotalSize(); // Takes in the rows that were measured since.
  const row = anchor && list.measurementsCache[anchor.index];
  return row && row.start + Math.min(anchor.offset, row.size - 1);
}

/** Which rows are drawn for those that are in view (UVR4). */
function useDrawnRange(pinned: number | undefined) {
  const drawn = useRef({ first: 0, last: -1, inView: 0 });
  const extract = useCallback(
    ({ startIndex, endIndex, count }: Range) => {
      const above = startIndex - drawn.current.first;
      const below = drawn.current.last - endIndex;
      const isAbove = above <= MOST && (above >= LEAST || drawn.current.first === 0);
      const isBelow = below <= MOST && (below >= LEAST || drawn.current.last === count - 1);
      const first = isAbove ? drawn.current.first : Math.max(0, startIndex - OVERSCAN);
      const last = isBelow ? Math.min(drawn.current.last, count - 1) : Math.min(count - 1, endIndex + OVERSCAN);
      drawn.current = { first, last, inView: startIndex };
      return withPinned(
        Array.from({ length: last - first + 1 }, (_, index) => first + index),
        pinned,
        count,
      );
    },
    [pinned],
  );
  return {
    extract,
    /** Whether they are there, and the first in view is still the same. */
    isFor(list: List): boolean {
      const range = list.calculateRange();
      const { first, last, inView } = drawn.current;
      return range !== null && range.startIndex === inView && range.startIndex >= first && range.endIndex <= last;
    },
  };
}

function withPinned(range: readonly number[], pinned: number | undefined, count: number): number[] {
  if (pinned === undefined || pinned >= count || range.includes(pinned)) return [...range];
  return [...range, pinned].toSorted((a, b) => a - b);
}

/** Whether the list is scrolled along when this row turns out to have another size, also while a person scrolls up (UVR2). */
function isAboveView(row: VirtualItem, _change: number, list: List): boolean {
  const offset = list.scrollOffset ?? 0;
  return row.end <= offset || (row.start < offset && !list.itemSizeCache.has(row.key));
}
