import type { IdRange, IndexedLog, PageIndex, TextPage } from '../page-index.ts';

export class MemoryPageIndex implements PageIndex {
  readonly #nextId: (conversationId: string) => number;
  readonly #logs = new Map<string, { readonly version: string; readonly pages: TextPage[] }>();

  constructor(nextId: (conversationId: string) => number) {
    this.#nextId = nextId;
  }

  async indexedTo(log: IndexedLog): Promise<number> {
    return this.#pages(log).at(-1)?.to ?? 0;
  }

  async add(log: IndexedLog, page: TextPage): Promise<boolean> {
    const known = this.#logs.get(log.conversationId) ?? { version: log.version, pages: [] };
    const end = known.pages.at(-1)?.to ?? 0;
    if (known.version !== log.version || page.from !== end || page.to > this.#nextId(log.conversationId)) return false;
    known.pages.push(page);
    this.#logs.set(log.conversationId, known);
    return true;
  }

  async find(log: IndexedLog, text: string): Promise<readonly IdRange[]> {
    const mayHold = this.#pages(log).filter((page) => page.text === undefined || page.text.includes(text));
    return mayHold.map(({ from, to }) => ({ from, to }));
  }

  async clear(conversationId: string): Promise<void> {
    this.#logs.delete(conversationId);
  }

  #pages({ conversationId, version }: IndexedLog): readonly TextPage[] {
    const known = this.#logs.get(conversationId);
    return known?.version === version ? known.pages : [];
  }
}
