import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ObservationDraft } from '@tendon/protocol';
import type { BrowserContext, Page } from 'playwright-core';
import type { HostConfig } from '@tendon/protocol/executor-api';
import { reasonOf } from '../../action-handler.ts';
import { browseObservation } from '../browse-observation.ts';
import { act, type OrderResult, type Order } from './act.ts';
import { createDownloads, type DownloadedFile } from './downloads.ts';
import { observe, type PageView } from './observe.ts';
import { openPage } from './open-page.ts';
import { createSettle } from './settle.ts';
import { Tabs } from './tabs.ts';
import { within } from './within.ts';

export type CarryOut = (order: Order, signal: AbortSignal, output: (text: string) => void) => Promise<ObservationDraft>;

const OBSERVE_MS = 45_000;
const MAX_LOOKS = 3;
const MAX_CONTENT_CHARS = 26_000;
const NOTHING: PageView = {
  content: { title: '', html: '', text: '' },
  ...{ tree: '', screenshot: '', setOfMarks: '', focusedBid: '', domObject: {}, treeObject: {}, elementProperties: {} },
};

/** Carries out one order at a time and describes what the page shows afterwards. */
export async function createCarryOut(context: BrowserContext, { workspace, profile, startUrl }: HostConfig): Promise<CarryOut> {
  const tabs = await Tabs.of(context);
  const downloads = createDownloads(context, { workspace, incoming: `${profile}/downloads`, note: (text) => tabs.note(text) });
  const settle = createSettle(context);
  if (startUrl !== undefined) await openPage(tabs, startUrl, workspace).catch((error: unknown) => tabs.note(reasonOf(error)));

  /** What there is to see once it has come to rest. A tab that has opened meanwhile is the one in use, and is looked at instead. */
  async function look(order: Order, deadline: AbortSignal, signal: AbortSignal) {
    const isInteractive = order.type === 'interact';
    const files: DownloadedFile[] = [];
    for (let looks = 1; ; looks += 1) {
      const page = tabs.active;
      await settle(page, deadline);
      if (downloads.hasNew) files.push(...(await downloads.take(order.deadlineMs, deadline)));
      const looking = observe(page, { withTree: order.withTree || isInteractive, withContent: !isInteractive });
      const seen = await within(OBSERVE_MS, looking, signal).catch(() => undefined);
      if (page === tabs.active || looks === MAX_LOOKS || signal.aborted) return { seen, files };
    }
  }

  return async (order, signal, output) => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(order.deadlineMs)]);
    const done = await act(order, { tabs, settle, workspace, signal: deadline, output });
    const { seen, files } = await look(order, deadline, signal);
    const unopened = tabs.unopened(tabs.active);
    const error = seen === undefined && !signal.aborted ? await closeHanging(tabs) : done.error === '' ? (unopened?.reason ?? '') : '';
    const outcome = { ...done, error: signal.aborted ? 'it was cancelled' : [done.error, error].filter((part) => part !== '').join(' ') };
    return answer(order, outcome, { tabs, files, seen: unopened ? NOTHING : (seen ?? NOTHING), folder: `${profile}/pages` });
  };
}

async function closeHanging(tabs: Tabs): Promise<string> {
  const url = tabs.active.url();
  await tabs.replaceActive();
  return `The page ${url} does not answer: a script on it may run without end. Its tab was closed`;
}

interface PageAfter {
  readonly tabs: Tabs;
  readonly files: readonly DownloadedFile[];
  readonly seen: PageView;
  /** For texts that are too long for an answer. */
  readonly folder: string;
}

function answer(order: Order, done: OrderResult, { tabs, files, seen, folder }: PageAfter): ObservationDraft {
  const isBrowse = order.type === 'browse';
  const messages = done.messages.map((message) => `Message for the user: ${message}`);
  const page = fitted(seen.content.text, MAX_CONTENT_CHARS, folder);
  const content = [...messages, ...tabs.takeNotes(), page, seen.tree].filter((part) => part !== '').join('\n\n');
  if (files.length > 0) return downloaded(files, [done.error, content].filter((part) => part !== '').join('\n\n'));
  return browseObservation({
    trigger: isBrowse ? 'browse' : 'browse_interactive',
    action: isBrowse ? `goto(${JSON.stringify(order.url)})` : order.text,
    content,
    url: addressOf(tabs.active, tabs),
    error: done.error,
    extras: {
      ...extrasOf(seen, tabs),
      ...(done.status !== undefined && { status_code: done.status }),
      ...(done.messages.length > 0 && { messages_to_user: [...done.messages] }),
    },
  });
}

/** The requested address of a page that could not be opened. */
function addressOf(page: Page, tabs: Tabs): string {
  return tabs.unopened(page)?.url ?? page.url();
}

function extrasOf(seen: PageView, tabs: Tabs): Record<string, unknown> {
  return {
    ...(seen.content.title !== '' && { title: seen.content.title.slice(0, 1000) }),
    ...(seen.content.html !== '' && { html: seen.content.html }),
    screenshot: seen.screenshot,
    set_of_marks: seen.setOfMarks,
    open_pages_urls: tabs.all.map((page) => addressOf(page, tabs).slice(0, 2000)),
    active_page_index: tabs.all.indexOf(tabs.active),
    dom_object: seen.domObject,
    axtree_object: seen.treeObject,
    extra_element_properties: seen.elementProperties,
    focused_element_bid: seen.focusedBid,
  };
}

/** What was downloaded counts for more than the page, whose text follows. */
function downloaded(files: readonly DownloadedFile[], page: string): ObservationDraft<'download'> {
  const words = files.map(({ path, bytes, url }) => `Downloaded ${url.slice(0, 300)} to ${path} (${bytes} bytes).`);
  return {
    observation: 'download',
    content: [...words, ...(page === '' ? [] : ['', page])].join('\n'),
    extras: { file_path: files[0]!.path },
  };
}

/** What fits into an answer, of a text that may be as long as a book; the whole is stored in a file that tools can read. */
function fitted(text: string, maxChars: number, folder: string): string {
  if (text.length <= maxChars) return text;
  const path = storeWhole(text, folder);
  const head = text.slice(0, maxChars).toWellFormed();
  return `${head}\n\n[The page goes on: ${text.length - maxChars} more characters. The whole of it is in ${path}]`;
}

const STORED_PAGES = 20;
const MAX_STORED_CHARS = 20 * 1024 * 1024;
let stored = 0;

function storeWhole(text: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const old = readdirSync(folder).toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  for (const name of old.slice(0, Math.max(0, old.length + 1 - STORED_PAGES))) rmSync(join(folder, name), { force: true });
  stored += 1;
  const path = join(folder, `page-${process.pid}-${stored}.md`);
  writeFileSync(path, text.slice(0, MAX_STORED_CHARS));
  return path;
}
