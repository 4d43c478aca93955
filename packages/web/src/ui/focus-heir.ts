/**
 * Focus is never lost: when the element that has it is removed or disabled, what is next to it inherits it.
 *
 * Owns where the focus last was; changes nothing while the focus is somewhere.
 */

/** Where a person goes on after a region is gone, the nearest first. */
const HEIRS = 'textarea, input, button, a[href], select, summary, [tabindex="0"]';

/** As the `ref` of what holds the page. */
export function inheritFocus(root: HTMLElement | null): (() => void) | undefined {
  if (!root) return undefined;
  const { ownerDocument: page } = root;
  /** The element that had the focus, and what it stood in, from the inside out. */
  let lineage: readonly HTMLElement[] = [];
  const remember = ({ target }: Event) => {
    lineage = [];
    for (let at = target as HTMLElement | null; at && at !== page.body; at = at.parentElement) lineage = [...lineage, at];
  };
  const look = () => {
    const [last, ...ancestors] = lineage;
    // A browser takes the focus from what is disabled only when it draws it, and no mutation says so.
    const isFocused = page.activeElement !== null && page.activeElement !== page.body && !page.activeElement.matches(':disabled');
    if (!last || isFocused || (last.isConnected && !last.matches(':disabled'))) return;
    lineage = [];
    heirIn(ancestors)?.focus();
  };
  const observer = new MutationObserver(look);
  observer.observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
  root.addEventListener('focusin', remember);
  // A click on what takes no focus gives it up on purpose.
  const forget = ({ target }: Event) =>
    void (page.activeElement !== page.body && (target as HTMLElement).closest(HEIRS) === null && (lineage = []));
  root.addEventListener('pointerdown', forget);
  return () => {
    observer.disconnect();
    root.removeEventListener('focusin', remember);
    root.removeEventListener('pointerdown', forget);
  };
}

function heirIn(ancestors: readonly HTMLElement[]): HTMLElement | undefined {
  for (const region of ancestors) {
    if (!region.isConnected) continue;
    // Of the composer and what is decided above it, the field: that is where a person goes on.
    const field = region.closest('.composer-box')?.querySelector<HTMLElement>('#composer');
    const heir = field ?? [...region.querySelectorAll<HTMLElement>(HEIRS)].find(canTakeFocus);
    if (heir) return heir;
    if (region.tabIndex >= -1 && region.hasAttribute('tabindex')) return region;
  }
  return undefined;
}

function canTakeFocus(element: HTMLElement): boolean {
  return !element.matches(':disabled, .skip-link, [tabindex="-1"]') && element.closest('[inert], [hidden], dialog:not([open])') === null;
}
