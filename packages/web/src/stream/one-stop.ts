/**
 * The stream is one stop of Tab, however many rows it has: Tab goes through what one row offers, then leaves the stream; coming back, the
 * stream itself has the focus, not the last of its hundred buttons.
 */
const STOPS = 'a[href], button:not(:disabled), input:not(:disabled), textarea:not(:disabled), select, summary, [tabindex="0"]';

/** As the `ref` of the scroller. */
export function oneStop(stream: HTMLElement | null): (() => void) | undefined {
  if (!stream) return undefined;
  const { ownerDocument: page } = stream;
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Tab' || event.altKey || event.ctrlKey || event.metaKey) return;
    const at = page.activeElement as HTMLElement | null;
    if (!at) return;
    const target = stream.contains(at) ? fromInside(stream, at, event.shiftKey) : fromOutside(stream, at, event.shiftKey);
    if (!target) return;
    event.preventDefault();
    target.focus();
  };
  page.addEventListener('keydown', onKey);
  return () => page.removeEventListener('keydown', onKey);
}

function fromInside(stream: HTMLElement, at: HTMLElement, isBack: boolean): HTMLElement | undefined {
  if (at === stream) return isBack ? undefined : stopBehind(stream);
  const row = at.closest<HTMLElement>('article, [data-row]');
  const inRow = row ? stopsOf(row) : [];
  const index = inRow.indexOf(at);
  const within = isBack ? inRow[index - 1] : inRow[index + 1];
  if (within) return within;
  // Backwards out of a row is the row, then the stream, then what is before it.
  if (isBack) return index === 0 && row && row.tabIndex === -1 && row.hasAttribute('tabindex') ? row : stream;
  return stopBehind(stream);
}

/** Backwards into the stream: it has the focus as a whole. */
function fromOutside(stream: HTMLElement, at: HTMLElement, isBack: boolean): HTMLElement | undefined {
  if (!isBack) return undefined;
  const all = stopsOf(stream.ownerDocument.body);
  const before = all[all.indexOf(at) - 1];
  return before && before !== stream && stream.contains(before) ? stream : undefined;
}

/** The first stop behind the stream. */
function stopBehind(stream: HTMLElement): HTMLElement | undefined {
  return stopsOf(stream.ownerDocument.body).find(
    (stop) => !stream.contains(stop) && (stream.compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
  );
}

function stopsOf(root: HTMLElement): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>(STOPS)].filter(
    (stop) => stop.tabIndex >= 0 && stop.closest('[inert], dialog:not([open]), [aria-hidden="true"]') === null && isShown(stop),
  );
}

function isShown(element: HTMLElement): boolean {
  return element.checkVisibility?.() ?? true;
}
