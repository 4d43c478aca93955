import type { BrowserContext, Dialog, Page } from 'playwright-core';
import { watchUnopened, type UnopenedPage } from './unopened.ts';
import { within } from './within.ts';

const MAX_TABS = 20;
const MAX_NOTES = 20;
const PAGE_DEADLINE_MS = 10_000;

/**
 * The open pages. Owns which one is in use, and what happens to pages by themselves: popups become tabs, dialogs are answered,
 * a page that crashed or hangs is closed. `takeNotes` returns what happened.
 *
 * 1. There is always a page in use.
 */
export class Tabs {
  readonly #context: BrowserContext;
  readonly #pages: Page[] = [];
  #notes: string[] = [];
  #active: Page;
  /** The request that failed, when the page could not be opened. */
  readonly unopened: (page: Page) => UnopenedPage | undefined;

  private constructor(context: BrowserContext, first: Page) {
    this.#context = context;
    this.#active = first;
    context.pages().forEach((page) => this.#watch(page));
    context.on('page', (page) => this.#onPage(page));
    this.unopened = watchUnopened(context);
  }

  static async of(context: BrowserContext): Promise<Tabs> {
    return new Tabs(context, context.pages()[0] ?? (await context.newPage()));
  }

  get active(): Page {
    return this.#active;
  }

  get all(): readonly Page[] {
    return this.#pages;
  }

  async focus(index: number): Promise<void> {
    const page = this.#pages[index];
    if (page === undefined) throw new Error(`there is no tab ${index}; there are 0 to ${this.#pages.length - 1}`);
    this.#active = page;
    await within(PAGE_DEADLINE_MS, page.bringToFront());
  }

  close(): Promise<void> {
    return this.#remove(this.#active);
  }

  /** Puts an empty page in the place of one that does not answer. */
  replaceActive(): Promise<void> {
    return this.#remove(this.#active);
  }

  takeNotes(): readonly string[] {
    const taken = this.#notes;
    this.#notes = [];
    return taken;
  }

  #onPage(page: Page): void {
    if (this.#pages.length >= MAX_TABS) {
      this.note(`More than ${MAX_TABS} tabs: a new one was closed at once.`);
      return void page.close().catch(() => {});
    }
    this.#watch(page);
    this.#active = page;
  }

  note(text: string): void {
    if (this.#notes.length < MAX_NOTES) this.#notes.push(text);
  }

  #watch(page: Page): void {
    if (this.#pages.includes(page)) return;
    this.#pages.push(page);
    page.on('dialog', (dialog) => void answer(dialog, (text) => this.note(text)));
    page.on('popup', (popup) => this.note(`The page opened a new tab, which is in use now: ${popup.url()}`));
    page.on('crash', () => {
      this.note(`The page ${page.url()} crashed. Its tab was closed.`);
      void this.#remove(page);
    });
    page.on('close', () => this.#forget(page));
  }

  #forget(page: Page): void {
    const at = this.#pages.indexOf(page);
    if (at >= 0) this.#pages.splice(at, 1);
    if (this.#active === page && this.#pages.length > 0) this.#active = this.#pages[Math.max(0, at - 1)]!;
  }

  /** A page that hangs may never say that it is closed: it counts as gone. */
  async #remove(page: Page): Promise<void> {
    if (this.#pages.every((other) => other === page)) await this.open();
    this.#forget(page);
    page.close({ runBeforeUnload: false }).catch(() => {});
  }

  async open(): Promise<Page> {
    if (this.#pages.length >= MAX_TABS) throw new Error(`there are ${MAX_TABS} tabs already; close one first`);
    const page = await within(PAGE_DEADLINE_MS, this.#context.newPage());
    this.#watch(page);
    this.#active = page;
    return page;
  }
}

/** As somebody would who wants to go on: yes, and the text that is already there. */
async function answer(dialog: Dialog, note: (text: string) => void): Promise<void> {
  const [kind, message] = [dialog.type(), dialog.message().slice(0, 500)];
  const given = kind === 'prompt' ? `${JSON.stringify(dialog.defaultValue().slice(0, 200))} and OK` : 'OK';
  if (kind !== 'beforeunload') note(`The page showed a dialog (${kind}): ${JSON.stringify(message)}. It was answered with ${given}.`);
  await dialog.accept(kind === 'prompt' ? dialog.defaultValue() : undefined).catch(() => {}); // its page is gone
}
