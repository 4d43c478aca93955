/**
 * Owns which rows of a long list are in the document, and whether it follows its end. Does not own how rows are measured and placed:
 * that is `@tanstack/react-virtual`.
 *
 * Invariants
 * UVR1  Rows are measured once and the height is stored under their key until they change their size themselves, or the list its width.
 * UVR2  Unless the list follows its end, the first visible row stays where it is, whatever is measured or added around it.
 * UVR3  The row that has the focus is in the document, wherever the list stands.
 * UVR4  A row that is near the view stays in the document: what a new row moves by its height leaves and comes back with none.
 */
import {
  observeElementOffset,
  observeElementRect,
  useVirtualizer,
  type Range,
  type VirtualItem,
  type Virtualizer,
} from '@tanstack/react-virtual';
import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** How many rows beyond the view are drawn when some are missing there, at least, and at most. */
const [OVERSCAN, LEAST, MOST] = [8, 2, 14];
const END_WITHIN = 48;

export interface VirtualRow {
  readonly index: number;
  readonly top: number;
}

export interface VirtualRows {
  readonly rows: readonly VirtualRow[];
  readonly total: number;
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

type List = Virtualizer<HTMLElement, HTMLElement>;

export function useVirtualRows(
  scroller: RefObject<HTMLElement | null>,
  keys: readonly string[],
  estimate: (index: number) => number,
  { pinned, paddingTop }: { readonly pinned: number | undefined; readonly paddingTop: number },
): VirtualRows {
  const following = useFollowing(scroller);
  const anchor = useWidthAnchor();
  const list: List = useVirtualizer<HTMLElement, HTMLElement>({
    count: keys.length,
    getScrollElement: () => scroller.current,
    getItemKey: useCallback((index: number) => keys[index]!, [keys]),
    estimateSize: estimate,
    measureElement: measureHeight,
    // What is to be drawn is drawn before the next frame anyway, once for all rows that have another height.
    useFlushSync: false,
    indexAttribute: 'data-row',
    overscan: 0,
    paddingStart: paddingTop,
    rangeExtractor: useDrawnRange(pinned),
    // What changes above the first visible row moves it by as much as the list is scrolled.
    anchorTo: 'end',
    scrollEndThreshold: END_WITHIN,
    // A turn's header covers the first 48 px.
    scrollPaddingStart: END_WITHIN,
    scrollPaddingEnd: 8,
    // Another size of the frame, as when the composer grows, is no scrolling.
    observeElementRect: (instance, onRect) =>
      observeElementRect(instance, (rect) => {
        anchor.onWidth(instance, rect.width);
        onRect(rect);
        if (following.is()) following.toEnd();
      }),
    // Only scrolling ends the following of the end; a list that grows does not.
    observeElementOffset: (instance, onOffset) =>
      observeElementOffset(instance, (offset, isScrolling) => {
        // The rows of that place are drawn already.
        if (following.isDrawnAt(offset)) return;
        if (isScrolling) following.onScroll();
        onOffset(offset, isScrolling);
        anchor.onOffset(instance);
      }),
  });
  list.shouldAdjustScrollPositionOnItemSizeChange = isAboveView;
  const total = list.getTotalSize();
  const before = useRowsBefore(list, keys);
  // Only where the layout is another one: to look at it forces the browser to make it at once.
  useLayoutEffect(() => {
    const still = following.is() ? null : scroller.current;
    if (!still && !goToEnd(list, following, total)) return;
    anchor.onLayout(list, still);
    before.restore(still);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- what else it reads are references
  }, [total, keys, anchor.widths(), following.is()]);
  return {
    rows: list.getVirtualItems().map(({ index, start }) => ({ index, top: start })),
    total,
    above: following.is() ? total - (list.scrollRect?.height || Number.NEGATIVE_INFINITY) : (list.scrollOffset ?? 0),
    isAtEnd: following.is(),
    first: list.range?.startIndex ?? 0,
    measure: list.measureElement,
    toEnd: () => (following.set(true), list.scrollToEnd()),
    toRow: (index, block = 'nearest') => {
      list.scrollToIndex(index, { align: block === 'start' ? 'start' : 'auto' });
      following.set(isAtEnd(scroller.current));
    },
  };
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

/** `false`: the rows turned out to have other heights than the `total` that was drawn, and are drawn once more, those in view at the end then. */
function goToEnd(list: List, following: ReturnType<typeof useFollowing>, total: number): boolean {
  measureShown(list);
  const now = list.getTotalSize();
  const isDrawn = now === total;
  list.scrollOffset = isDrawn ? (following.toEnd(list.scrollOffset ?? 0) ?? list.scrollOffset) : now - (list.scrollRect?.height ?? 0);
  return isDrawn;
}

/** A new row opens and the one before it closes: both at once, not when the browser reports the second. */
function measureShown(list: List): void {
  for (const [, element] of list.elementsCache)
    if (element.isConnected) list.resizeItem(list.indexFromElement(element), measureHeight(element, undefined, list));
}

/**
 * Text wraps otherwise at another width: rows that are not in the document are estimated again. The others are measured into the list's
 * cache: to report them one by one would scroll the list along, by the heights that the rows before them had.
 */
function forgetHeights(list: List): void {
  const shown = [...list.elementsCache].filter(([, element]) => element.isConnected);
  const heights = shown.map(([key, element]) => [key, measureHeight(element, undefined, list)] as const);
  list.measure();
  for (const [key, height] of heights) list.itemSizeCache.set(key, height);
}

/** Whether the list follows its end. A reference, because scrolling and layout read it between two renders; a change renders. */
function useFollowing(scroller: RefObject<HTMLElement | null>) {
  const follows = useRef(true);
  /** Where the list scrolled itself: its own scrolling is reported later, when the end may have moved on or the frame have shrunk. */
  const own = useRef(0);
  const drawnAt = useRef<number>(undefined);
  const [, render] = useState(true);
  const set = (next: boolean) => {
    follows.current = next;
    render(next);
  };
  return {
    is: () => follows.current,
    /** Whether the list follows its end there, with the rows of that place. */
    isDrawnAt: (offset: number) => follows.current && offset === drawnAt.current,
    set,
    /** Answers where it stands then; `drawn`: for which place its rows were drawn. */
    toEnd(drawn?: number) {
      const { current } = scroller;
      if (!current) return undefined;
      current.scrollTop = current.scrollHeight;
      own.current = current.scrollTop;
      drawnAt.current = drawn !== undefined && Math.abs(drawn - own.current) <= END_WITHIN ? own.current : undefined;
      return own.current;
    },
    onScroll() {
      const hasMovedUp = !follows.current || (scroller.current?.scrollTop ?? 0) < own.current;
      if (hasMovedUp) set(isAtEnd(scroller.current));
    },
  };
}

/** Which rows are drawn for those that are in view (UVR4). */
function useDrawnRange(pinned: number | undefined): (range: Range) => number[] {
  const drawn = useRef({ first: 0, last: -1 });
  return useCallback(
    ({ startIndex, endIndex, count }: Range) => {
      const above = startIndex - drawn.current.first;
      const below = drawn.current.last - endIndex;
      const isAbove = above <= MOST && (above >= LEAST || drawn.current.first === 0);
      const isBelow = below <= MOST && (below >= LEAST || drawn.current.last === count - 1);
      const first = isAbove ? drawn.current.first : Math.max(0, startIndex - OVERSCAN);
      const last = isBelow ? Math.min(drawn.current.last, count - 1) : Math.min(count - 1, endIndex + OVERSCAN);
      drawn.current = { first, last };
      return withPinned(
        Array.from({ length: last - first + 1 }, (_, index) => first + index),
        pinned,
        count,
      );
    },
    [pinned],
  );
}

function withPinned(range: readonly number[], pinned: number | undefined, count: number): number[] {
  if (pinned === undefined || pinned >= count || range.includes(pinned)) return [...range];
  return [...range, pinned].toSorted((a, b) => a - b);
}

/** The height of a row; of one that is not shown, what was known before. */
function measureHeight(element: HTMLElement, entry: ResizeObserverEntry | undefined, list: List): number {
  const height = entry?.borderBoxSize[0]?.blockSize ?? element.getBoundingClientRect().height;
  return height > 0 ? height : (list.measurementsCache[list.indexFromElement(element)]?.size ?? 0);
}

/** Whether the list is scrolled along when this row turns out to have another size, also while a person scrolls up (UVR2). */
function isAboveView(row: VirtualItem, _change: number, list: List): boolean {
  const offset = list.scrollOffset ?? 0;
  return row.end <= offset || (row.start < offset && !list.itemSizeCache.has(row.key));
}

function isAtEnd(element: HTMLElement | null): boolean {
  return element !== null && element.scrollHeight - element.scrollTop - element.clientHeight <= END_WITHIN;
}
