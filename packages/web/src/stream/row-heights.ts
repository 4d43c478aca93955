import type { Virtualizer } from '@tanstack/react-virtual';

export type List = Virtualizer<HTMLElement, HTMLElement>;

/** The height of a row; of one that is not shown, what was known before. */
export function measureHeight(element: HTMLElement, entry: ResizeObserverEntry | undefined, list: List): number {
  const height = entry?.borderBoxSize[0]?.blockSize ?? element.getBoundingClientRect().height;
  return height > 0 ? height : knownHeight(element, list);
}

export function knownHeight(element: HTMLElement, list: List): number {
  return list.measurementsCache[list.indexFromElement(element)]?.size ?? 0;
}

/** A new row opens and the one before it closes: both at once, not when the browser reports the second. */
export function measureShown(list: List): void {
  for (const [, element] of list.elementsCache)
    if (element.isConnected) list.resizeItem(list.indexFromElement(element), measureHeight(element, undefined, list));
}

/**
 * Text wraps otherwise at another width: rows that are not in the document are estimated again. The others are measured into the list's
 * cache: to report them one by one would scroll the list along, by the heights that the rows before them had.
 */
export function forgetHeights(list: List): void {
  const shown = [...list.elementsCache].filter(([, element]) => element.isConnected);
  const heights = shown.map(([key, element]) => [key, measureHeight(element, undefined, list)] as const);
  list.measure();
  for (const [key, height] of heights) list.itemSizeCache.set(key, height);
}
