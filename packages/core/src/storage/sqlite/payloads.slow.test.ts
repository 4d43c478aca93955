/** Payloads over 16 KB: outside their row, restored on every read, shared, removed, and reported when they are missing. */
import { draftFromJson, MessageAction, RunObservation, type Event } from '@tendon/protocol';
import * as fc from 'fast-check';
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { anyCharacter, runs } from '@tendon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SourcedDraft } from '../../log/event-log.ts';
import { BlobStore } from '../blobs/blob-store.ts';
import { message } from '../contract/message.ts';
import type { Storage } from '../storage.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';

const output = (content: string): SourcedDraft => ({ ...RunObservation.create(content, { command: 'cat' }), source: 'agent' });
const unknown = (raw: Record<string, unknown>): SourcedDraft => ({ ...draftFromJson(raw), source: 'environment' });
const image = `data:image/png;base64,${'iVBORw0KGgo'.repeat(20_000)}`;
/** More than the database takes. */
const film = `data:video/mp4;base64,${'AAAAIGZ0eXBp'.repeat(30_000)}`;

describe('payloads', () => {
  let database: TemporaryDatabase;
  let storage: Storage;

  beforeEach(async () => {
    database = temporaryDatabase();
    storage = await database.open();
  });
  afterEach(() => database.dispose());

  const blobs = (): string[] =>
    readdirSync(database.blobDir, { recursive: true, withFileTypes: true }).flatMap((file) =>
      file.isFile() ? join(file.parentPath, file.name) : [],
    );

  function rows(): { body: string; payloads: string | null }[] {
    const db = new DatabaseSync(database.path, { readOnly: true });
    const all = db.prepare('SELECT body, payloads FROM events ORDER BY conversation_id, id').all();
    db.close();
    return all as unknown as { body: string; payloads: string | null }[];
  }

  /** What the database holds beside the rows: bytes of each payload. */
  function inDatabase(): number[] {
    const db = new DatabaseSync(database.path, { readOnly: true });
    const all = db.prepare('SELECT length(bytes) AS n FROM payloads ORDER BY n').all() as { n: number }[];
    db.close();
    return all.map(({ n }) => n);
  }

  function change(sql: string): void {
    const db = new DatabaseSync(database.path);
    db.exec(sql);
    db.close();
  }

  async function append(conversation: string, ...drafts: SourcedDraft[]): Promise<readonly Event[]> {
    const log = await storage.events.open(conversation);
    return log.append(drafts, { expectedId: log.nextId });
  }

  async function reread(conversation = 'c'): Promise<readonly Event[]> {
    await storage.close();
    storage = await database.open();
    return (await storage.events.open(conversation)).read();
  }

  it('EL12: over 16 KB of UTF-8 a string is beside its row, over 256 KB in a file', async () => {
    const [small, beside, wide, most, more] = [
      'x'.repeat(16_384),
      'x'.repeat(16_385),
      'é'.repeat(8_193),
      'x'.repeat(262_144),
      'x'.repeat(262_145),
    ];
    const written = await append('c', ...[small, beside, wide, most, more].map(output));
    expect(rows().map(({ payloads }) => payloads !== null)).toEqual([false, true, true, true, true]);
    expect(rows().every(({ body }) => body.length < 17_000)).toBe(true);
    expect(inDatabase()).toHaveLength(3);
    expect(blobs().map((path) => readFileSync(path, 'utf8'))).toEqual([more]);
    expect(await reread()).toEqual(written);
  });

  it('EL12: a payload is stored deflated if that makes it smaller', async () => {
    const noise = Array.from(crypto.getRandomValues(new Uint16Array(20_000)), (unit) => String.fromCharCode(unit)).join('');
    const written = await append('c', output('line of code\n'.repeat(10_000)), output(noise));
    const [text, raw] = inDatabase();
    expect(text).toBeLessThan(2_000);
    expect(raw).toBeGreaterThan(35_000);
    expect(await reread()).toEqual(written);
  });

  it('EL55: an append whose payloads are in the database waits for one sync', async () => {
    const probe = await open(join(database.dir, 'probe'), 'w');
    const handle = Object.getPrototypeOf(probe) as { sync(): Promise<void>; datasync(): Promise<void> };
    await probe.close();
    const { sync, datasync } = handle;
    let syncs = 0;
    const counted = (real: () => Promise<void>) =>
      function (this: unknown) {
        syncs += 1;
        return real.call(this);
      };
    Object.assign(handle, { sync: counted(sync), datasync: counted(datasync) });
    try {
      const drafts = Array.from({ length: 5 }, (_, n) => output(`${n} ${'of a file '.repeat(2_500 * (n + 1))}`));
      await append('c', ...drafts);
      expect(syncs).toBe(1);
      // A file is synced with its folders before the commit that refers to it.
      await append('c', output(film));
      expect(syncs).toBeGreaterThan(3);
    } finally {
      Object.assign(handle, { sync, datasync });
    }
  });

  it('EL12: payloads of an older version, which are all in files, are read unchanged', async () => {
    const written = await append('c', output(image), output('x'.repeat(20_000)), output(film));
    await storage.close();
    // As that version left them.
    const db = new DatabaseSync(database.path);
    for (const { hash, bytes } of db.prepare('SELECT hash, deflated, bytes FROM payloads').all() as { hash: string; bytes: Uint8Array }[]) {
      const store = await BlobStore.open(database.blobDir);
      expect(await store.put(inflateRawSync(bytes))).toBe(hash);
      db.prepare('INSERT INTO blob_uses VALUES (?, ?)').run(hash, 'c');
    }
    db.exec('DELETE FROM payloads');
    db.close();
    storage = await database.open();
    expect(await (await storage.events.open('c')).read()).toEqual(written);
    expect(blobs()).toHaveLength(3);
    await storage.events.delete('c');
    expect(blobs()).toEqual([]);
  });

  it('EL12: images, nested strings, lone surrogates and giant keys come back as they were; no row holds base64', async () => {
    const written = await append(
      'c',
      { ...MessageAction.create({ content: 'look', image_urls: [image, 'https://example.org/small.png', image] }), source: 'user' },
      output('\ud83d'.repeat(9_000)),
      unknown({ observation: 'x', a: [{ b: { __proto__: null, 'c.d': ['e'.repeat(20_000)] } }], ['k'.repeat(100_000)]: 1 }),
      unknown(JSON.parse(`{"observation":"x","__proto__":{"constructor":"${'p'.repeat(20_000)}"}}`) as Record<string, unknown>),
      unknown({ observation: 'many', list: Array.from({ length: 100 }, (_, n) => String(n).repeat(4_000)) }),
    );
    for (const { body } of rows()) {
      expect(body.length).toBeLessThan(70_000);
      expect(body).not.toContain('iVBOR');
    }
    expect(JSON.stringify(await reread())).toBe(JSON.stringify(written));
  });

  it('EL12: strings that look like references are ordinary strings', async () => {
    await append('c', output('y'.repeat(20_000)));
    const { payloads } = rows()[0]!;
    const written = await append('c', output(payloads!), unknown({ observation: 'x', payloads, $blob: payloads, body: '' }));
    expect((await reread()).slice(1)).toEqual(written);
  });

  it('EL8, EL12: random JSON with large strings anywhere survives', async () => {
    const leaf = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom('é'.repeat(9_000), '\udc00'.repeat(6_000)),
    );
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.string({ unit: anyCharacter, maxLength: 5 }), tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    const log = await storage.events.open('c');
    const property = fc.asyncProperty(fc.dictionary(fc.string(), json, { maxKeys: 5 }), async (raw) => {
      await log.append([unknown(JSON.parse(JSON.stringify({ ...raw, observation: 'random' })) as Record<string, unknown>)], {
        expectedId: log.nextId,
      });
    });
    await fc.assert(property, { numRuns: runs(100) });
    const live = await log.read();
    expect(JSON.stringify(await reread())).toBe(JSON.stringify(live));
  });

  it('EL10: closing during reads reports no damage to them', async () => {
    const drafts = Array.from({ length: 100 }, (_, n) =>
      unknown({ observation: 'x', a: `${n}`.repeat(20_000), b: `b${n}`.repeat(20_000) }),
    );
    const written = await append('c', ...drafts);
    await storage.close();
    storage = await database.open();
    const log = await storage.events.open('c');
    const follow = async (): Promise<readonly Event[]> => {
      const seen: Event[] = [];
      for await (const event of log.follow(0, new AbortController())) seen.push(event);
      return seen;
    };
    const readings = [log.read(), follow()];
    await log.read({ limit: 3 });
    const outcomes = Promise.allSettled(readings);
    await storage.close();
    const [read, followed] = await outcomes;
    expect(read).toMatchObject({ status: 'rejected', reason: { code: 'closed' } });
    const { value } = followed as PromiseFulfilledResult<readonly Event[]>;
    expect(value.length).toBeLessThan(written.length);
    expect(value).toEqual(written.slice(0, value.length));
    expect(storage.findings).toEqual([]);
  });

  it('EL13: the same content is stored once, and until the last conversation that uses it is deleted', async () => {
    await append('a', output(film), output(film));
    await append('b', output(film), output('only b'.repeat(50_000)));
    expect(blobs()).toHaveLength(2);
    await storage.events.delete('b');
    expect(blobs()).toHaveLength(1);
    expect((await reread('a'))[0]).toMatchObject({ content: film });
    await storage.events.delete('a');
    expect(blobs()).toEqual([]);
  });

  it('EL13: in the database it is stored once per conversation, and removed with it', async () => {
    await append('a', output(image), output(image));
    await append('b', output(image), output('only b'.repeat(5_000)));
    expect(inDatabase()).toHaveLength(3);
    await storage.events.delete('b');
    expect(inDatabase()).toHaveLength(1);
    expect((await reread('a')).map((event) => (event as unknown as { content: string }).content)).toEqual([image, image]);
    await storage.events.delete('a');
    expect(inDatabase()).toEqual([]);
  });

  it('EL13: many payloads are removed in batches, also those whose deletion was interrupted', async () => {
    const many = Array.from({ length: 150 }, (_, n) => output(`${n} `.repeat(10_000)));
    await append('whole', ...many);
    await append('cut off', ...many);
    await append('other', output(image));
    await storage.events.delete('whole');
    expect(inDatabase()).toHaveLength(151);
    await storage.close();
    change("DELETE FROM events WHERE conversation_id = 'cut off'");
    storage = await database.open();
    expect(await storage.sweep()).toBe(150);
    expect(inDatabase()).toHaveLength(1);
    expect(await storage.sweep()).toBe(0);
  });

  it.each([
    ['a file', film],
    ['the database', image],
  ])('EL13: deleting beside appends of the same content, in %s, never takes it away from them', async (_, content) => {
    for (let round = 0; round < 20; round++) {
      await append('old', output(content));
      await Promise.all([storage.events.delete('old'), append(`new${round}`, output(content))]);
      await storage.events.delete('old');
    }
    await storage.close();
    storage = await database.open();
    for (let round = 0; round < 20; round++) {
      expect((await (await storage.events.open(`new${round}`)).read())[0]).toMatchObject({ content });
    }
    expect(storage.findings).toEqual([]);
  });

  it('EL13: what a crash left half written is cleared', async () => {
    await append('c', output(film));
    const left = join(database.blobDir, 'tmp', 'half-written');
    await storage.close();
    writeFileSync(left, 'half');
    storage = await database.open();
    expect(existsSync(left)).toBe(false);
  });

  it.each([
    ['missing', (path: string) => rmSync(path)],
    ['cut', (path: string) => truncateSync(path, 100)],
    ['changed', (path: string) => writeFileSync(path, 'something else')],
  ])('EL14: a blob that is %s is reported in its place, and the rest of the event is there', async (_, damage) => {
    await append('c', output(film), message('after'));
    for (const path of blobs()) damage(path);
    const [event, after] = await reread();
    expect(event).toMatchObject({ id: 0, observation: 'run', extras: { command: 'cat' } });
    expect((event as unknown as { content: string }).content).toMatch(/^\[this part of the log is damaged: blob [0-9a-f]{64} .*\]$/);
    expect(after).toMatchObject({ id: 1, args: { content: 'after' } });
    expect(storage.findings).toHaveLength(1);
  });

  it.each([
    ['missing', 'DELETE FROM payloads'],
    ['cut', 'UPDATE payloads SET bytes = substr(bytes, 1, 20)'],
    ['changed', "UPDATE payloads SET deflated = 0, bytes = CAST('something else' AS BLOB)"],
    ['endless', `UPDATE payloads SET bytes = x'${deflateRawSync(Buffer.alloc(2 ** 28)).toString('hex')}'`],
  ])('EL14: a payload in the database that is %s is reported in its place, and the rest of the event is there', async (_, sql) => {
    await append('c', output(image), message('after'));
    await storage.close();
    change(sql);
    storage = await database.open();
    const [event, after] = await (await storage.events.open('c')).read();
    expect(event).toMatchObject({ id: 0, observation: 'run', extras: { command: 'cat' } });
    expect((event as unknown as { content: string }).content).toMatch(
      /^\[this part of the log is damaged: (blob|payload) [0-9a-f]{64} .*\]$/,
    );
    expect(after).toMatchObject({ id: 1, args: { content: 'after' } });
    expect(storage.findings).toHaveLength(1);
  });

  it.each([
    ['cut', (path: string) => truncateSync(path, 5)],
    ['of the right size', (path: string) => writeFileSync(path, '\0'.repeat(film.length))],
  ])('EL14: a damaged file, %s, is written anew when the same content comes again', async (_, damage) => {
    await append('c', output(film));
    damage(blobs()[0]!);
    await append('c', output(film));
    expect((await reread()).map((event) => (event as unknown as { content: string }).content)).toEqual([film, film]);
  });

  it('EL14: a damaged payload of the database is written again with the next equal content', async () => {
    await append('c', output(image));
    await storage.close();
    change('UPDATE payloads SET bytes = zeroblob(length(bytes))');
    storage = await database.open();
    await append('c', output(image));
    expect((await reread()).map((event) => (event as unknown as { content: string }).content)).toEqual([image, image]);
  });

  it('EL14: an event that was wholly in a file becomes an error that keeps its place', async () => {
    await append('c', unknown({ observation: 'many', list: Array.from({ length: 100 }, () => 'z'.repeat(4_000)) }), message('after'));
    for (const path of blobs()) rmSync(path);
    const [event, after] = await reread();
    expect(event).toMatchObject({ id: 0, observation: 'error', source: 'environment', extras: { error_id: 'STORAGE$DAMAGED' } });
    expect(after).toMatchObject({ id: 1 });
  });
});
