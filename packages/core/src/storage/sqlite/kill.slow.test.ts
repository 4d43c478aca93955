/** A real server process, killed with SIGKILL while four conversations write, again and again on the same database. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { contentOf } from '../contract/message.ts';
import { contentAt } from './fixtures/content-at.ts';
import { temporaryDatabase } from './temporary-database.test-support.ts';

const ROUNDS = 6;
/** From the first acknowledgement on; long enough for the WAL to fill and be checkpointed. */
const MAX_LIFE_MS = 600;

describe('SIGKILL', () => {
  const database = temporaryDatabase();
  afterAll(() => database.dispose());

  it('EL1, EL15: every acknowledged event is there, whole and in its place, however often the writer is killed', async () => {
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      await writeUntilKilled((MAX_LIFE_MS * round) / ROUNDS + Math.random() * 100, acknowledged);
      const storage = await database.open();
      for (const [conversation, lastId] of acknowledged) {
        const log = await storage.events.open(conversation);
        expect(log.nextId).toBeGreaterThan(lastId);
        const contents = (await log.read()).map(contentOf);
        expect(contents).toHaveLength(log.nextId);
        expect(contents.findIndex((content, id) => content !== contentAt(conversation, id))).toBe(-1);
      }
      // A frame that the kill cut in two is reported, and what it held was acknowledged to nobody.
      expect(storage.findings.filter((finding) => !finding.includes('torn by a crash'))).toEqual([]);
      await storage.close();
    }
    expect(acknowledged.size).toBe(4);
  });

  async function writeUntilKilled(lifeMs: number, acknowledged: Map<string, number>): Promise<void> {
    const writer = join(import.meta.dirname, 'fixtures/writer.ts');
    const args = ['--conditions=tendon-source', writer, database.path, database.blobDir];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const lines = createInterface({ input: child.stdout });
    await new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        // The last line may be cut: then it was not acknowledged.
        const [conversation, id, walBytes] = line.split(' ');
        if (walBytes !== undefined) acknowledged.set(conversation!, Number(id));
        resolve();
      });
    });
    await setTimeout(lifeMs);
    child.kill('SIGKILL');
    await ended;
  }
});
