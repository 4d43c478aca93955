import type { Page } from 'playwright-core';
import type { Elements } from './read-elements.ts';
import { openPageSession, type PageSession } from './page-session.ts';

/** One document of the page, with what the browser alone knows of its elements. */
export interface PageDocument {
  readonly session: PageSession;
  readonly frameId: string;
  readonly bidOf: ReadonlyMap<number, string>;
}

export interface Documents {
  /** By the prefix of the frame that they are in. */
  readonly byPrefix: ReadonlyMap<string, PageDocument>;
  readonly clickable: ReadonlySet<string>;
  /** The snapshot of the page's own process, as `DOMSnapshot.captureSnapshot` gives it. */
  readonly snapshot: Snapshot;
}

type Snapshot = Awaited<ReturnType<typeof capture>>;

/** Finds out which node has which id, and which can be clicked, over all processes of the page. The caller closes the sessions. */
export async function readDocuments(page: Page, main: PageSession, { frames }: Elements): Promise<Documents> {
  const byPrefix = new Map<string, PageDocument>();
  const clickable = new Set<string>();
  const snapshot = await capture(main);
  collect(snapshot, main, '', { byPrefix, clickable });
  for (const [prefix, frame] of frames) {
    if (prefix === '' || byPrefix.has(prefix)) continue;
    const session = await openPageSession(frame, page).catch(() => undefined); // it shares a process that was read, or is gone
    if (session === undefined) continue;
    await capture(session).then(
      (own) => collect(own, session, prefix, { byPrefix, clickable }),
      () => session.close(),
    );
  }
  return { byPrefix, clickable, snapshot };
}

function capture(session: PageSession) {
  return session.send('DOMSnapshot.captureSnapshot', { computedStyles: [] });
}

interface DocumentIndex {
  readonly byPrefix: Map<string, PageDocument>;
  readonly clickable: Set<string>;
}

function collect({ documents, strings }: Snapshot, session: PageSession, rootPrefix: string, { byPrefix, clickable }: DocumentIndex): void {
  const bidName = strings.indexOf('bid');
  const prefixes = new Map([[0, rootPrefix]]);
  for (const [index, { frameId, nodes }] of documents.entries()) {
    const bids = (nodes.attributes ?? []).map((pairs) => {
      const at = pairs.findIndex((name, place) => place % 2 === 0 && name === bidName);
      return at < 0 ? undefined : strings[pairs[at + 1]!];
    });
    for (const [place, node] of (nodes.contentDocumentIndex?.index ?? []).entries()) {
      const child = nodes.contentDocumentIndex?.value[place];
      const bid = bids[node];
      if (child !== undefined && bid !== undefined) prefixes.set(child, bid);
    }
    const prefix = prefixes.get(index);
    if (prefix === undefined) continue;
    for (const node of nodes.isClickable?.index ?? []) if (bids[node] !== undefined) clickable.add(bids[node]);
    const bidOf = new Map(bids.flatMap((bid, node) => (bid === undefined ? [] : [[nodes.backendNodeId?.[node] ?? -1, bid] as const])));
    byPrefix.set(prefix, { session, frameId: strings[frameId] ?? session.frameId, bidOf });
  }
}
