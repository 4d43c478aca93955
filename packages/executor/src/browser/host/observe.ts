import type { Page } from 'playwright-core';
import { boundedTree, readTree, type TreeNode, treeText } from './accessibility-tree.ts';
import { openPageSession, type PageSession } from './page-session.ts';
import { readDocuments, type Documents } from './read-documents.ts';
import { MAX_TREE_ELEMENTS, readElements, type Element, type Elements } from './read-elements.ts';
import { within } from './within.ts';
import { drawMarks } from './in-page/draw-marks.ts';
import { readContent } from './in-page/read-content.ts';
import { loadDefuddle } from './load-playwright.ts';

/** What is to be seen of a page; what could not be had of it is empty. */
export interface PageView {
  readonly content: PageContent;
  /** Of the accessibility tree, for a model. */
  readonly tree: string;
  readonly screenshot: string;
  readonly setOfMarks: string;
  readonly focusedBid: string;
  readonly domObject: object;
  readonly treeObject: object;
  readonly elementProperties: object;
}

const PROBE_MS = 5000;
const MAX_TREE_CHARS = 24_000;
/** Of each of the objects that only programs read. */
const MAX_OBJECT_CHARS = 64 * 1024;
const NO_CONTENT: PageContent = { title: '', html: '', text: '' };

interface Pictures {
  /** `data:` URLs, or empty where none could be taken. */
  readonly screenshot: string;
  readonly setOfMarks: string;
  /** Ids of the elements that are marked. */
  readonly marked: ReadonlySet<string>;
}

const MAX_MARKS = 200;
const MIN_AREA = 20;
/** A picture that is larger as a PNG is taken as a JPEG. */
const MAX_PNG_CHARS = 2 * 1024 * 1024;

interface PageContent {
  readonly title: string;
  /** Cut, where it is very long. */
  readonly html: string;
  /** As Markdown, or as plain text where that says more. */
  readonly text: string;
}

interface ReadPage {
  readonly title: string;
  readonly html: string;
  readonly text: string;
  readonly markdown: string;
}

const MAX_HTML_CHARS = 512 * 1024;
let defuddle: string | undefined;

/** Looks at a page. `undefined` when it does not answer: a script on it runs without end. */
export async function observe(
  page: Page,
  { withTree, withContent }: { readonly withTree: boolean; readonly withContent: boolean },
): Promise<PageView | undefined> {
  const session = await openPageSession(page, page).catch(() => undefined);
  if (session === undefined) return undefined;
  try {
    const answers = await within(PROBE_MS, page.evaluate('1')).then(
      () => true,
      () => false,
    );
    if (!answers) return undefined;
    const content = withContent
      ? await readPage(session).catch(() => NO_CONTENT)
      : { ...NO_CONTENT, title: await within(PROBE_MS, page.title()).catch(() => '') };
    const elements = withTree ? await readElements(page).catch(() => undefined) : undefined;
    return elements === undefined ? await plain(session, content) : await full(page, session, content, elements);
  } finally {
    await session.close();
  }
}

async function plain(session: PageSession, content: PageContent): Promise<PageView> {
  const { screenshot } = await takePictures(session).catch(() => ({ screenshot: '' }));
  return { content, tree: '', screenshot, setOfMarks: '', focusedBid: '', domObject: {}, treeObject: {}, elementProperties: {} };
}

async function full(page: Page, session: PageSession, content: PageContent, elements: Elements): Promise<PageView> {
  if (elements.total > MAX_TREE_ELEMENTS) {
    return {
      ...(await plain(session, content)),
      tree: `[The page has ${elements.total} elements, too many for a tree. Use CSS selectors, or read its text with browse.]`,
    };
  }
  const documents = await readDocuments(page, session, elements).catch(() => undefined);
  if (documents === undefined) return plain(session, content);
  try {
    const nodes = await readTree(documents).catch(() => []);
    const { clickable, snapshot } = documents;
    const pictures = await takePictures(session, elements, clickable).catch(() => ({
      screenshot: '',
      setOfMarks: '',
      marked: new Set<string>(),
    }));
    return {
      content,
      tree: written(nodes, clickable),
      screenshot: pictures.screenshot,
      setOfMarks: pictures.setOfMarks,
      focusedBid: elements.focusedBid,
      domObject: bounded(snapshot),
      treeObject: boundedTree(nodes, MAX_OBJECT_CHARS),
      elementProperties: bounded(propertiesOf(elements, clickable, pictures.marked)),
    };
  } finally {
    await closeOthers(documents, session);
  }
}

function written(nodes: readonly TreeNode[], clickable: ReadonlySet<string>): string {
  const { text, left } = treeText(nodes, clickable, MAX_TREE_CHARS);
  return left === 0 ? text : `${text}\n[${left} more elements are left out. Use CSS selectors for them, or look at a part of the page.]`;
}

async function closeOthers({ byPrefix }: Documents, main: PageSession): Promise<void> {
  const others = new Set([...byPrefix.values()].map(({ session }) => session).filter((session) => session !== main));
  await Promise.all([...others].map((session) => session.close()));
}

function propertiesOf({ byBid }: Elements, clickable: ReadonlySet<string>, marked: ReadonlySet<string>): object {
  const entries = [...byBid.values()].map(({ bid, box, visibility }) => {
    const bbox = visibility > 0 ? box : null;
    return [bid, { visibility, bbox, clickable: clickable.has(bid), set_of_marks: marked.has(bid) }];
  });
  return Object.fromEntries(entries) as object;
}

/** Whole or not at all. */
function bounded(value: object): object {
  return JSON.stringify(value).length <= MAX_OBJECT_CHARS ? value : {};
}

/** The page as it is seen, and the same with the ids of what can be used; that only with `elements`. */
async function takePictures(session: PageSession, elements?: Elements, clickable: ReadonlySet<string> = new Set()): Promise<Pictures> {
  const { data } = await session.send('Page.captureScreenshot', { format: 'png' });
  const useful =
    elements === undefined ? [] : [...elements.byBid.values()].filter((element) => isUseful(element, clickable)).slice(0, MAX_MARKS);
  const marks = useful.map(({ bid, box }) => [bid, ...box] as const);
  // A page that refuses (its canvas is taken away) keeps its picture without marks.
  const drawn =
    elements === undefined
      ? ''
      : await session.run(drawMarks as (argument: object) => Promise<string>, { picture: data, marks }).catch(() => '');
  const small = data.length <= MAX_PNG_CHARS ? undefined : await session.send('Page.captureScreenshot', { format: 'jpeg', quality: 80 });
  return {
    screenshot: small === undefined ? dataUrl('png', data) : dataUrl('jpeg', small.data),
    setOfMarks: drawn === '' || drawn.length > MAX_PNG_CHARS ? '' : dataUrl('png', drawn),
    marked: new Set(useful.map(({ bid }) => bid)),
  };
}

function isUseful({ bid, box, visibility, isControl }: Element, clickable: ReadonlySet<string>): boolean {
  return visibility > 0 && box[2] * box[3] >= MIN_AREA && (isControl || clickable.has(bid));
}

function dataUrl(type: string, base64: string): string {
  return `data:image/${type};base64,${base64}`;
}

async function readPage(session: PageSession): Promise<PageContent> {
  defuddle ??= loadDefuddle();
  const limits = { maxHtml: MAX_HTML_CHARS, maxElements: MAX_TREE_ELEMENTS };
  const { title, html, text, markdown } = await session.run(readContent as (argument: object) => ReadPage, limits, defuddle);
  return { title, html, text: (markdown || text).trim() };
}
