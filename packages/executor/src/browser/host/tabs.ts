import type { BrowserContext, Dialog, Page } from 'playwright-core';
import { watchUnopened, type Unopened } from './unopened.ts';
import { within } from './within.ts';

/**
 * The open pages. Owns which one is in use, and what happens to pages by themselves: popups become tabs, dialogs are answered,
 * a page that crashed or hangs is closed. What happened is told by `takeNotes`.
 *
 * 1. There is always a page in use.
 */
export interface Tabs {
  readonly active: Page;
  readonly all: readonly Page[];
  /** The request that failed, when the page could not be opened. */
  unopened(page: Page): Unopened | undefined;
  open(): Promise<Page>;
  focus(index: number): Promise<void>;
  close(): Promise<void>;
  /** Puts an empty page in the place of one that does not answer. */
  replaceActive(): Promise<void>;
  note(text: string): void;
  takeNotes(): readonly string[];
}

const MAX_TABS = 20;
const MAX_NOTES = 20;
const PAGE_DEADLINE_MS = 10_000;

export async function openTabs(context: BrowserContext): Promise<Tabs> {
  const pages: Page[] = [];
  let notes: string[] = [];
  let active: Page = context.pages()[0] ?? (await context.newPage());
  context.pages().forEach(watch);
  context.on('page', (page) => {
    if (pages.length >= MAX_TABS) {
      note(`More than ${MAX_TABS} tabs: a new one was closed at once.`);
      return void page.close().catch(() => {});
    }
    watch(page);
    active = page;
  });

  function note(text: string): void {
    if (notes.length < MAX_NOTES) notes.push(text);
  }

  function watch(page: Page): void {
    if (pages.includes(page)) return;
    pages.push(page);
    page.on('dialog', (dialog) => void answer(dialog, note));
    page.on('popup', (popup) => note(`The page opened a new tab, which is in use now: ${popup.url()}`));
    page.on('crash', () => {
      note(`The page ${page.url()} crashed. Its tab was closed.`);
      void remove(page);
    });
    page.on('close', () => forget(page));
  }

  function forget(page: Page): void {
    const at = pages.indexOf(page);
    if (at >= 0) pages.splice(at, 1);
    if (active === page && pages.length > 0) active = pages[Math.max(0, at - 1)]!;
  }

  /** A page that hangs may never say that it is closed: it counts as gone. */
  async function remove(page: Page): Promise<void> {
    if (pages.every((other) => other === page)) await open();
    forget(page);
    page.close({ runBeforeUnload: false }).catch(() => {});
  }

  async function open(): Promise<Page> {
    if (pages.length >= MAX_TABS) throw new Error(`there are ${MAX_TABS} tabs already; close one first`);
    const page = await within(PAGE_DEADLINE_MS, context.newPage());
    watch(page);
    active = page;
    return page;
  }

  return {
    get active() {
      return active;
    },
    get all() {
      return pages;
    },
    unopened: watchUnopened(context),
    open,
    async focus(index) {
      const page = pages[index];
      if (page === undefined) throw new Error(`there is no tab ${index}; there are 0 to ${pages.length - 1}`);
      active = page;
      await within(PAGE_DEADLINE_MS, page.bringToFront());
    },
    close: () => remove(active),
    replaceActive: () => remove(active),
    note,
    takeNotes() {
      const taken = notes;
      notes = [];
      return taken;
    },
  };
}

/** As somebody would who wants to go on: yes, and the text that is already there. */
async function answer(dialog: Dialog, note: (text: string) => void): Promise<void> {
  const [kind, message] = [dialog.type(), dialog.message().slice(0, 500)];
  const given = kind === 'prompt' ? `${JSON.stringify(dialog.defaultValue().slice(0, 200))} and OK` : 'OK';
  if (kind !== 'beforeunload') note(`The page showed a dialog (${kind}): ${JSON.stringify(message)}. It was answered with ${given}.`);
  await dialog.accept(kind === 'prompt' ? dialog.defaultValue() : undefined).catch(() => {}); // its page is gone
}
