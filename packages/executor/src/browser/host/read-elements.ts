import type { Frame, Page } from 'playwright-core';
import { markElements } from './in-page/mark-elements.ts';
import { ANSWER_MS } from './page-session.ts';
import { within } from './within.ts';

/** One element, in the coordinates of the page's view. */
export interface Element {
  readonly bid: string;
  readonly box: readonly [x: number, y: number, width: number, height: number];
  /** From 0 to 1, how much of it is in view. */
  readonly visibility: number;
  readonly isControl: boolean;
}

export interface Elements {
  readonly byBid: ReadonlyMap<string, Element>;
  /** Prefixes of the frames that were marked; the page's own is empty. */
  readonly frames: ReadonlyMap<string, Frame>;
  readonly focusedBid: string;
  /** More than `MAX_TREE_ELEMENTS` make a page too large for a tree. */
  readonly total: number;
}

interface MarkedFrame {
  readonly boxes: readonly (readonly [string, number, number, number, number, number, boolean])[];
  readonly total: number;
  readonly focused: string;
}

const mark = markElements as unknown as (argument: {
  readonly prefix: string;
  readonly limit: number;
  readonly maxTotal: number;
}) => MarkedFrame;
const MAX_ELEMENTS = 10_000;
const MAX_FRAMES = 40;
export const MAX_TREE_ELEMENTS = 20_000;

/** Marks the elements of all frames, parents first: the id of a frame is the prefix of what is in it. */
export async function readElements(page: Page): Promise<Elements> {
  const byBid = new Map<string, Element>();
  const frames = new Map<string, Frame>();
  let focusedBid = '';
  let total = 0;

  async function read(frame: Frame, prefix: string, left: number, top: number): Promise<void> {
    if (frames.size >= MAX_FRAMES || byBid.size >= MAX_ELEMENTS) return;
    const marked = await within(ANSWER_MS, frame.evaluate(mark, { prefix, limit: MAX_ELEMENTS - byBid.size, maxTotal: MAX_TREE_ELEMENTS }));
    frames.set(prefix, frame);
    total += marked.total;
    for (const [bid, x, y, width, height, visibility, isControl] of marked.boxes) {
      byBid.set(bid, { bid, box: [x + left, y + top, width, height], visibility, isControl });
    }
    focusedBid = marked.focused === '' ? focusedBid : marked.focused;
    for (const child of frame.childFrames()) {
      const bid = await ownerBid(child).catch(() => '');
      const owner = byBid.get(bid);
      // A frame that does not answer (an advertisement that hangs) is left out; the page is not.
      if (owner !== undefined) await read(child, bid, owner.box[0], owner.box[1]).catch(() => {});
    }
  }

  await read(page.mainFrame(), '', 0, 0);
  return { byBid, frames, focusedBid, total };
}

async function ownerBid(frame: Frame): Promise<string> {
  const owner = await within(ANSWER_MS, frame.frameElement());
  return (await within(ANSWER_MS, owner.getAttribute('bid'))) ?? '';
}
