import { readContent } from './in-page/read-content.ts';
import { loadDefuddle } from './load-playwright.ts';
import { MAX_TREE_ELEMENTS } from './read-elements.ts';
import type { PageSession } from './page-session.ts';

export interface PageContent {
  readonly title: string;
  /** Cut, where it is very long. */
  readonly html: string;
  /** As Markdown, or as plain text where that says more. */
  readonly text: string;
}

interface Read {
  readonly title: string;
  readonly html: string;
  readonly text: string;
  readonly markdown: string;
}

const MAX_HTML_CHARS = 512 * 1024;
let defuddle: string | undefined;

export async function readPage(session: PageSession): Promise<PageContent> {
  defuddle ??= loadDefuddle();
  const limits = { maxHtml: MAX_HTML_CHARS, maxElements: MAX_TREE_ELEMENTS };
  const { title, html, text, markdown } = await session.run(readContent as (argument: object) => Read, limits, defuddle);
  return { title, html, text: (markdown || text).trim() };
}
