/** Payloads over 16 KB: out of the database, back on every read, shared, removed, and honest when they are gone. */
import { draftFromJson, MessageAction, RunObservation, type Event } from '@tendon/protocol';
import * as fc from 'fast-check';
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SourcedDraft } from '../../log/event-log.ts';
import { message } from '../contract/message.ts';
import type { Storage } from '../storage.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';

const output = (content: string): SourcedDraft => ({ ...RunObservation.create(content, { command: 'cat' }), source: 'agent' });
const unknown = (raw: Record<string, unknown>): SourcedDraft => ({ ...draftFromJson(raw), source: 'environment' });
const image = `data:image/png;base64,${'iVBORw0KGgo'.repeat(20_000)}`;

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

  async function append(conversation: string, ...drafts: SourcedDraft[]): Promise<readonly Event[]> {
    const log = await storage.events.open(conversation);
    return log.append(drafts, { expectedId: log.nextId });
  }

  async function reread(conversation = 'c'): Promise<readonly Event[]> {
    await storage.close();
    storage = await database.open();
    return (await storage.events.open(conversation)).read();
  }

  it('EL12: the limit is 16 KB of UTF-8; over it a string is in a file and not in the row', async () => {
    await append('c', output('x'.repeat(16_384)), output('x'.repeat(16_385)), output('é'.repeat(8_193)));
    expect(rows().map(({ payloads }) => payloads !== null)).toEqual([false, true, true]);
    expect(rows().every(({ body }) => body.length < 17_000)).toBe(true);
    expect(blobs()).toHaveLength(2);
    expect(
      blobs()
        .map((path) => readFileSync(path, 'utf8'))
        .toSorted(),
    ).toEqual(['x'.repeat(16_385), 'é'.repeat(8_193)]);
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
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom('é'.repeat(9_000), '\udc00'.repeat(6_000)),
    );
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.string({ unit: 'binary', maxLength: 5 }), tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    const log = await storage.events.open('c');
    const property = fc.asyncProperty(fc.dictionary(fc.string(), json, { maxKeys: 5 }), async (raw) => {
      await log.append([unknown(JSON.parse(JSON.stringify({ ...raw, observation: 'random' })) as Record<string, unknown>)], {
        expectedId: log.nextId,
      });
    });
    await fc.assert(property, { numRuns: 100 });
    const live = await log.read();
    expect(JSON.stringify(await reread())).toBe(JSON.stringify(live));
  });

  it('EL13: the same content is kept once, and until the last conversation that uses it is deleted', async () => {
    await append('a', output(image), output(image));
    await append('b', output(image), output('only b'.repeat(5_000)));
    expect(blobs()).toHaveLength(2);
    await storage.events.delete('b');
    expect(blobs()).toHaveLength(1);
    expect((await reread('a'))[0]).toMatchObject({ content: image });
    await storage.events.delete('a');
    expect(blobs()).toEqual([]);
  });

  it('EL13: deleting beside appends of the same content never takes it away from them', async () => {
    for (let round = 0; round < 20; round++) {
      await append('old', output(image));
      await Promise.all([storage.events.delete('old'), append(`new${round}`, output(image))]);
      await storage.events.delete('old');
    }
    await storage.close();
    storage = await database.open();
    for (let round = 0; round < 20; round++) {
      expect((await (await storage.events.open(`new${round}`)).read())[0]).toMatchObject({ content: image });
    }
    expect(storage.findings).toEqual([]);
  });

  it('EL13: what a crash left half written is cleared', async () => {
    await append('c', output(image));
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
  ])('EL14: a blob that is %s is told in its place, and the rest of the event is there', async (_, damage) => {
    await append('c', output(image), message('after'));
    for (const path of blobs()) damage(path);
    const [event, after] = await reread();
    expect(event).toMatchObject({ id: 0, observation: 'run', extras: { command: 'cat' } });
    expect((event as unknown as { content: string }).content).toMatch(/^\[this part of the log is damaged: blob [0-9a-f]{64} .*\]$/);
    expect(after).toMatchObject({ id: 1, args: { content: 'after' } });
    expect(storage.findings).toHaveLength(1);
  });

  it('EL14: a damaged blob is written anew when the same content comes again', async () => {
    await append('c', output(image));
    truncateSync(blobs()[0]!, 5);
    await append('c', output(image));
    expect((await reread()).map((event) => (event as unknown as { content: string }).content)).toEqual([image, image]);
  });

  it('EL14: an event that was wholly in a blob becomes an error that keeps its place', async () => {
    await append('c', unknown({ observation: 'many', list: Array.from({ length: 100 }, () => 'z'.repeat(4_000)) }), message('after'));
    for (const path of blobs()) rmSync(path);
    const [event, after] = await reread();
    expect(event).toMatchObject({ id: 0, observation: 'error', source: 'environment', extras: { error_id: 'STORAGE$DAMAGED' } });
    expect(after).toMatchObject({ id: 1 });
  });
});
