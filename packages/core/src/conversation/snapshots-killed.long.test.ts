/** A real process that stores its fold at every third event, killed with SIGKILL at any moment, again and again on the same database. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { codeActAgent } from '../agents/code-act-agent.ts';
import { temporaryDatabase, type TemporaryDatabase } from '../storage/sqlite/temporary-database.test-support.ts';
import { projectMessages } from '../prompt/project-messages.test-support.ts';
import { openedFold } from './conversation.test-support.ts';
import { foldEngine, INITIAL_ENGINE_STATE } from '../engine/engine-state.ts';

const ROUNDS = 8;

it('EN202: killed at any moment, what is opened from the snapshot is what folding the whole log gives', async () => {
  const database = temporaryDatabase();
  onTestFinished(() => database.dispose());
  let snapshots = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const answered = await writeUntilKilled(database, Math.random() * 400);
    const storage = await database.open();
    const log = await storage.events.open('c');
    expect(log.nextId).toBeGreaterThan(answered);
    const { folded, view, storedTo } = await openedFold(log);
    if (storedTo > 0) snapshots += 1;
    const events = await log.read();
    expect(folded.state).toStrictEqual(events.reduce(foldEngine, INITIAL_ENGINE_STATE));
    const { messages } = await view.messages();
    expect(messages).toStrictEqual(projectMessages(events, codeActAgent));
    expect(storage.findings.filter((finding) => !finding.includes('torn by a crash'))).toEqual([]);
    await storage.close();
  }
  expect(snapshots).toBeGreaterThanOrEqual(ROUNDS - 1);
});

/** The id of the last message that was answered. */
async function writeUntilKilled({ path, blobDir }: TemporaryDatabase, lifeMs: number): Promise<number> {
  const writer = join(import.meta.dirname, 'fixtures/snapshot-writer.ts');
  const child = spawn(process.execPath, ['--conditions=tendon-source', writer, path, blobDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let answered = -1;
  await new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      answered = Number(line);
      resolve();
    });
    child.once('close', () => resolve());
  });
  await setTimeout(lifeMs);
  child.kill('SIGKILL');
  await ended;
  return answered;
}
