import type { Page } from 'playwright-core';
import { boundedTree } from './bounded-tree.ts';
import { openPageSession, type PageSession } from './page-session.ts';
import { takePictures } from './pictures.ts';
import { readDocuments, type Documents } from './read-documents.ts';
import { MAX_TREE_ELEMENTS, readElements, type Elements } from './read-elements.ts';
import { readPage, type PageContent } from './read-page.ts';
import { readTree, type TreeNode } from './read-tree.ts';
import { treeText } from './tree-text.ts';
import { within } from './within.ts';

/** What is to be seen of a page; what could not be had of it is empty. */
export interface Seen {
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

/** Looks at a page. `undefined` when it does not answer: a script on it runs without end. */
export async function observe(
  page: Page,
  { withTree, withContent }: { readonly withTree: boolean; readonly withContent: boolean },
): Promise<Seen | undefined> {
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

async function plain(session: PageSession, content: PageContent): Promise<Seen> {
  const { screenshot } = await takePictures(session).catch(() => ({ screenshot: '' }));
  return { content, tree: '', screenshot, setOfMarks: '', focusedBid: '', domObject: {}, treeObject: {}, elementProperties: {} };
}

async function full(page: Page, session: PageSession, content: PageContent, elements: Elements): Promise<Seen> {
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
