/** What a process leaves that is killed between a blob and the event that refers to it, and what an opening makes of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { contentOf, message } from '../contract/message.ts';
import { BlobStore } from '../blobs/blob-store.ts';
import { contentAt } from './fixtures/content-at.ts';
import { temporaryDatabase, type TemporaryDatabase } from './temporary-database.test-support.ts';

describe('blobs that no log refers to', () => {
  let database: TemporaryDatabase;
  beforeEach(() => {
    database = temporaryDatabase();
  });
  afterEach(() => database.dispose());

  const blobs = (): readonly string[] =>
    readdirSync(database.blobDir, { recursive: true, encoding: 'utf8' }).filter((path) => /^[0-9a-f]{2}\/[0-9a-f]{62}$/.test(path));

  /** A process that writes, or only leaves a blob, until it has reported so, and is killed. */
  async function killed(fixture: 'writer.ts' | 'left-blob.ts'): Promise<string> {
    const args = ['--conditions=tendon-source', join(import.meta.dirname, 'fixtures', fixture), database.path, database.blobDir];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    let printed = '';
    for await (const chunk of child.stdout) {
      printed += String(chunk);
      if (fixture === 'left-blob.ts' || printed.split('\n').length > 200) break;
    }
    child.kill('SIGKILL');
    await ended;
    return printed.trim();
  }

  itInFull('SV116: of a process that was killed go, those in use and those on their way stay', async () => {
    for (let round = 0; round < 3; round += 1) {
      const orphan = await killed('left-blob.ts');
      await killed('writer.ts');
      expect(existsSync(join(database.blobDir, orphan.slice(0, 2), orphan.slice(2)))).toBe(true);
      let storage = await database.open();
      // A kill that falls into the write of a page is reported as damage, beside which nothing is removed until the next opening.
      for (; storage.findings.length > 0; storage = await database.open()) await storage.close();
      const log = await storage.events.open('beside');
      const appending = log.append([message(`beside ${round} `.repeat(40_000))], { expectedId: log.nextId });
      const [removed] = await Promise.all([storage.sweep(), appending]);
      expect(removed).toBeGreaterThan(0);
      expect(existsSync(join(database.blobDir, orphan.slice(0, 2), orphan.slice(2)))).toBe(false);
      expect(await storage.sweep()).toBe(0);
      for (const conversation of ['a', 'b', 'c', 'd']) {
        const contents = (await (await storage.events.open(conversation)).read()).map(contentOf);
        expect(contents.findIndex((content, id) => content !== contentAt(conversation, id))).toBe(-1);
      }
      expect((await log.read()).map(contentOf).at(-1)).toMatch(new RegExp(`^beside ${round} `));
      await storage.close();
    }
    expect(blobs().length).toBeGreaterThan(0);
  });

  it('SV116: what else lies in the folder is left alone, and nothing is removed beside a damaged database', async () => {
    const storage = await database.open();
    const log = await storage.events.open('one');
    await log.append([message('bytes '.repeat(100_000))], { expectedId: 0 });
    writeFileSync(join(database.blobDir, 'note'), 'theirs');
    expect(await storage.sweep()).toBe(0);
    await storage.close();
    const stray = await (await BlobStore.open(database.blobDir)).put(Buffer.from('stray'));
    // A frame that broke off is a finding.
    writeFileSync(`${database.path}-wal`, Buffer.alloc(5000, 7));
    const damaged = await database.open();
    expect(damaged.findings).not.toEqual([]);
    expect(await damaged.sweep()).toBe(0);
    expect(existsSync(join(database.blobDir, stray.slice(0, 2), stray.slice(2)))).toBe(true);
    expect(existsSync(join(database.blobDir, 'note'))).toBe(true);
    expect((await (await damaged.events.open('one')).read()).map(contentOf)).toEqual(['bytes '.repeat(100_000)]);
  });
});
