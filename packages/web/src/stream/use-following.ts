import { type RefObject, useRef, useState } from 'react';
import { type List, measureShown } from './row-heights.ts';

/** How far from its end a list still follows it, pixels. */
export const END_WITHIN = 48;

export type Following = ReturnType<typeof useFollowing>;

/** Whether the list follows its end. A reference, because scrolling and layout read it between two renders; a change renders. */
export function useFollowing(scroller: RefObject<HTMLElement | null>) {
  const follows = useRef(true);
  /** Where the list went itself, and how long it was: its own scrolling is reported later, when the end may have moved on. */
  const own = useRef({ offset: 0, total: 0 });
  const isMeasuring = useRef(false);
  const [, render] = useState(true);
  const set = (next: boolean) => {
    follows.current = next;
    render(next);
  };
  return {
    is: () => follows.current,
    isMeasuring: () => isMeasuring.current,
    /** Whether the list went to its end since it has another length. */
    isEnd: (list: List) => list.getTotalSize() === own.current.total,
    set,
    /** With the heights that its rows have by then. */
    toEnd(list: List) {
      const { current } = scroller;
      if (!current) return;
      isMeasuring.current = true;
      measureShown(list);
      isMeasuring.current = false;
      current.scrollTop = current.scrollHeight;
      own.current = { offset: current.scrollTop, total: list.getTotalSize() };
      list.scrollOffset = own.current.offset;
    },
    onScroll() {
      const hasMovedUp = !follows.current || (scroller.current?.scrollTop ?? 0) < own.current.offset;
      if (hasMovedUp) set(isAtEnd(scroller.current));
    },
  };
}

export function isAtEnd(element: HTMLElement | null): boolean {
  return element !== null && element.scrollHeight - element.scrollTop - element.clientHeight <= END_WITHIN;
}
