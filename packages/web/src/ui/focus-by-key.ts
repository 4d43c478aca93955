/**
 * The focus that a key brought is marked `data-by-key`: a person who came with the keyboard looks for it. Browsers show the focus of a
 * field always, because it may be typed into, and the field of a page that exists to be typed into would be its loudest part.
 */

/** As the `ref` of what holds the page. */
export function markKeyFocus(root: HTMLElement | null): (() => void) | undefined {
  if (!root) return undefined;
  const stop = new AbortController();
  const options = { signal: stop.signal, capture: true };
  /** A key is down: what moves the focus now is that key. */
  let isDown = false;
  const set = (value: boolean) => () => void (isDown = value);
  root.ownerDocument.addEventListener('keydown', set(true), options);
  root.ownerDocument.addEventListener('keyup', set(false), options);
  root.ownerDocument.addEventListener('pointerdown', set(false), options);
  root.addEventListener('focusin', ({ target }) => isDown && (target as HTMLElement).setAttribute('data-by-key', ''), options);
  root.addEventListener('focusout', ({ target }) => (target as HTMLElement).removeAttribute('data-by-key'), options);
  return () => stop.abort();
}
