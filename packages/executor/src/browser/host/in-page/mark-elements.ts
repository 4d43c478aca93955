// @ts-nocheck: it runs in a page, whose types the executor does not have.

/**
 * Gives every element of a frame and its open shadow roots an attribute `bid`: the frame's prefix and a number, for a frame
 * the prefix and letters. An element keeps the one it has; one that was copied from another gets its own. Self-contained: its
 * text is sent to the page.
 *
 * Result: `[bid, x, y, width, height, visible share, is a control]` in the frame's own coordinates, and who has the focus.
 */
export function markElements({ prefix, limit, maxTotal }) {
  const ownNumber = new RegExp(`^${prefix}(\\d+)$`);
  const ownFrame = new RegExp(`^${prefix}[a-z][A-Z]*$`);
  const controls =
    'a[href],button,input:not([type=hidden]),select,textarea,option,summary,[contenteditable=""],[contenteditable=true],[role=button],[role=link],[role=checkbox],[role=radio],[role=tab],[role=menuitem],[role=option],[role=combobox],[role=textbox],[role=switch],[onclick]';
  const elements = [];
  let total = 0;
  const collect = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      total += 1;
      if (elements.length < limit) elements.push(node);
      if (node.shadowRoot) collect(node.shadowRoot);
    }
  };
  collect(document);
  if (total > maxTotal) return { boxes: [], total, focused: '' };

  const isFrame = (element) => element.localName === 'iframe' || element.localName === 'frame';
  const taken = new Set();
  const unmarked = [];
  let number = 0;
  for (const element of elements) {
    const bid = element.getAttribute('bid') ?? '';
    if ((isFrame(element) ? ownFrame : ownNumber).test(bid) && !taken.has(bid)) {
      taken.add(bid);
      number = Math.max(number, Number(ownNumber.exec(bid)?.[1] ?? -1) + 1);
    } else unmarked.push(element);
  }
  let frames = 0;
  const frameBid = () => {
    for (;;) {
      const [rest, first] = [Math.floor(frames / 26), frames % 26];
      frames += 1;
      const letters =
        String.fromCharCode(97 + first) + (rest === 0 ? '' : String.fromCharCode(65 + ((rest - 1) % 26)).repeat(Math.ceil(rest / 26)));
      if (!taken.has(prefix + letters)) return prefix + letters;
    }
  };
  for (const element of unmarked) {
    const bid = isFrame(element) ? frameBid() : prefix + String(number++);
    taken.add(bid);
    element.setAttribute('bid', bid);
  }

  const boxes = elements.map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const seenWidth = Math.min(x + width, innerWidth) - Math.max(x, 0);
    const seenHeight = Math.min(y + height, innerHeight) - Math.max(y, 0);
    const isSeen = [width, height, seenWidth, seenHeight].every((side) => side > 0);
    const isShown = isSeen && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const share = isShown ? (seenWidth * seenHeight) / (width * height) : 0;
    const rounded = [x, y, width, height].map((side) => Math.round(side));
    return [element.getAttribute('bid'), ...rounded, Math.round(share * 100) / 100, element.matches(controls)];
  });
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  const focused = active && active !== document.body && active !== document.documentElement ? (active.getAttribute('bid') ?? '') : '';
  return { boxes, total, focused };
}
