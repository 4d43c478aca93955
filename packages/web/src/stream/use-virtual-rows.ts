/**
 * Owns which rows of a long list are in the document, and where it stands.
 *
 * Invariants
 * V1  Rows are measured once and the height is kept under their key until they change their size themselves.
 * V2  Unless the list follows its end, the first visible row stays where it is, whatever is measured or added around it.
 * V3  The row that has the focus is in the document, wherever the list stands.
 */
import { useCallback, useLayoutEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { HeightIndex } from './height-index.ts';

const OVERSCAN = 8;
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
  readonly onScroll: () => void;
  readonly measure: (key: string, element: HTMLElement | null) => void;
  readonly toEnd: () => void;
  readonly toRow: (index: number, block?: 'start' | 'nearest') => void;
}

export function useVirtualRows(
  scroller: RefObject<HTMLElement | null>,
  keys: readonly string[],
  estimate: (index: number) => number,
  pinned: number | undefined,
): VirtualRows {
  const measured = useRef(new Map<string, number>()).current;
  const heights = useMemo(
    () => new HeightIndex(keys.map((key, index) => measured.get(key) ?? estimate(index))),
    // The estimates are a function of the keys.
    // oxlint-disable-next-line exhaustive-deps
    [keys, measured],
  );
  const [view, setView] = useState({ top: 0, height: 900, version: 0 });
  const follows = useRef(true);
  const anchor = useRef<{ readonly key: string; readonly offset: number } | undefined>(undefined);
  const indexOf = useMemo(() => new Map(keys.map((key, index) => [key, index])), [keys]);
  const latest = useRef({ heights, indexOf, keys });
  latest.current = { heights, indexOf, keys };

  const read = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    const { scrollTop: top, clientHeight: height, scrollHeight } = element;
    follows.current = scrollHeight - top - height <= END_WITHIN;
    const { heights: now, keys: names } = latest.current;
    const row = now.rowAt(top);
    anchor.current = names[row] === undefined ? undefined : { key: names[row], offset: top - now.top(row) };
    setView((before) => (before.top === top && before.height === height ? before : { ...before, top, height }));
  }, [scroller]);

  // Every render may have changed heights: put the list back to where the reader left it, before the paint.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const kept = anchor.current && indexOf.get(anchor.current.key);
    if (follows.current) element.scrollTop = element.scrollHeight;
    else if (kept !== undefined) element.scrollTop = heights.top(kept) + anchor.current!.offset;
    if (element.scrollTop !== view.top || element.clientHeight !== view.height) {
      setView((before) => ({ ...before, top: element.scrollTop, height: element.clientHeight }));
    }
  });

  const observer = useResizes((key, height) => {
    const row = latest.current.indexOf.get(key);
    if (height === 0 || measured.get(key) === height) return false;
    measured.set(key, height);
    if (row === undefined) return false;
    latest.current.heights.set(row, height);
    return true;
  }, setView);

  useFrameResize(scroller, measured, setView);

  const first = heights.rowAt(view.top);
  const last = heights.rowAt(view.top + view.height);
  const rows: VirtualRow[] = [];
  const from = Math.max(0, first - OVERSCAN);
  const to = Math.min(keys.length - 1, last + OVERSCAN);
  if (pinned !== undefined && pinned < from) rows.push({ index: pinned, top: heights.top(pinned) });
  for (let index = from; index <= to; index += 1) rows.push({ index, top: heights.top(index) });
  if (pinned !== undefined && pinned > to && pinned < keys.length) rows.push({ index: pinned, top: heights.top(pinned) });

  return {
    rows,
    total: heights.total,
    isAtEnd: follows.current,
    first,
    onScroll: read,
    measure: observer,
    toEnd: () => {
      follows.current = true;
      setView((before) => ({ ...before, version: before.version + 1 }));
    },
    toRow: (index, block = 'nearest') => {
      const element = scroller.current;
      const key = keys[index];
      if (!element || key === undefined) return;
      const top = heights.top(index);
      const bottom = top + heights.height(index);
      const isBelow = bottom > element.scrollTop + element.clientHeight;
      // A turn's header covers the first 48 px.
      const isAbove = top < element.scrollTop + END_WITHIN;
      if (block === 'nearest' && !isBelow && !isAbove) return;
      const target = block === 'start' || isAbove ? top - END_WITHIN : bottom - element.clientHeight + 8;
      element.scrollTop = target;
      read();
    },
  };
}

type SetView = (
  update: (before: { top: number; height: number; version: number }) => { top: number; height: number; version: number },
) => void;

/** One observer for all rows; `onHeight` says whether the list must be laid out again. */
function useResizes(onHeight: (key: string, height: number) => boolean, setView: SetView): VirtualRows['measure'] {
  const elements = useRef(new Map<string, Element>());
  const names = useRef(new WeakMap<Element, string>());
  const handler = useRef(onHeight);
  handler.current = onHeight;
  const observer = useMemo(
    () =>
      new ResizeObserver((entries) => {
        let isChanged = false;
        for (const entry of entries) {
          const key = names.current.get(entry.target);
          const height = entry.borderBoxSize[0]?.blockSize ?? entry.contentRect.height;
          if (key !== undefined && handler.current(key, height)) isChanged = true;
        }
        if (isChanged) setView((before) => ({ ...before, version: before.version + 1 }));
      }),
    [setView],
  );
  return useCallback(
    (key, element) => {
      const before = elements.current.get(key);
      if (before === element || (!before && !element)) return;
      if (before) observer.unobserve(before);
      if (!element) return void elements.current.delete(key);
      elements.current.set(key, element);
      names.current.set(element, key);
      observer.observe(element);
    },
    [observer],
  );
}

/** Another width means other heights: what was measured is forgotten. */
function useFrameResize(scroller: RefObject<HTMLElement | null>, measured: Map<string, number>, setView: SetView): void {
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    let width = element.clientWidth;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth !== width) measured.clear();
      width = element.clientWidth;
      setView((before) => ({ ...before, height: element.clientHeight, version: before.version + 1 }));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller, measured, setView]);
}
