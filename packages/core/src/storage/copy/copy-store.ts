import { digestOf, type StoredRecordRow, type StoredRows } from './stored-rows.ts';

export interface CopySummary {
  readonly conversations: number;
  readonly events: number;
  readonly records: number;
  /** Conversations that an earlier attempt had copied. */
  readonly found: number;
}

export interface CopyOptions {
  readonly onProgress?: (done: { readonly conversations: number; readonly events: number }) => void;
  /** Called with a sentence for each thing that the source itself lacks. */
  readonly onProblem: (sentence: string) => void;
}

/**
 * Copies every conversation and record, and reads each back to compare it. What an earlier attempt has copied is found and left as it is. The
 * source is only read. Rejects with a user-facing Error when the target has conversations that the source does not have.
 */
export async function copyStore(from: StoredRows, to: StoredRows, { onProgress, onProblem }: CopyOptions): Promise<CopySummary> {
  await refuseForeign(from, to);
  let [conversations, events, found] = [0, 0, 0];
  for await (const id of conversationsOf(from)) {
    const source = await digestOf(from, id);
    if ((await digestOf(to, id)).hash === source.hash) found += 1;
    else {
      const missing = await to.replaceLog(id, from);
      for (const hash of missing) onProblem(`payload ${hash} of conversation ${id} is missing; the event that it belongs to says so.`);
      const copied = new Set(await to.payloadHashes(id));
      const isWhole = (await from.payloadHashes(id)).every((hash) => copied.has(hash) || missing.includes(hash));
      if (!isWhole || (await digestOf(to, id)).hash !== source.hash)
        throw new Error(`Conversation ${id} was not copied as it is. Try again.`);
    }
    conversations += 1;
    events += source.events;
    onProgress?.({ conversations, events });
  }
  return { conversations, events, records: await copyRecords(from, to), found };
}

async function refuseForeign(from: StoredRows, to: StoredRows): Promise<void> {
  for await (const id of conversationsOf(to)) {
    if (!(await from.log(id)))
      throw new Error(`The target has conversations of its own, ${id} among them. Copy into an empty one. Nothing was changed.`);
  }
}

async function* conversationsOf(rows: StoredRows): AsyncGenerator<string, void, undefined> {
  for (let after = ''; ;) {
    const page = await rows.conversationIds(after);
    if (page.length === 0) return;
    yield* page;
    after = page.at(-1)!;
  }
}

async function copyRecords(from: StoredRows, to: StoredRows): Promise<number> {
  for await (const page of recordPages(from)) await to.putRecords(page);
  const copied = new Map<string, string>();
  for await (const page of recordPages(to)) for (const row of page) copied.set(keyOf(row), row.json);
  let records = 0;
  for await (const page of recordPages(from)) {
    for (const row of page)
      if (copied.get(keyOf(row)) !== row.json)
        throw new Error(`The record ${row.collection}/${row.id} was not copied as it is. Try again.`);
    records += page.length;
  }
  return records;
}

async function* recordPages(rows: StoredRows): AsyncGenerator<readonly StoredRecordRow[], void, undefined> {
  for (let after = { collection: '', id: '' }; ;) {
    const page = await rows.records(after);
    if (page.length === 0) return;
    yield page;
    after = page.at(-1)!;
  }
}

function keyOf({ collection, id, sort }: StoredRecordRow): string {
  return JSON.stringify([collection, id, sort]);
}
