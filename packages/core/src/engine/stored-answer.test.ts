import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { done, ID, stage } from '../conversation/conversation.test-support.ts';
import { temporaryDatabase } from '../storage/sqlite/temporary-database.test-support.ts';

const CALLS = 40;

/** Shrinks as source code does, to about two fifths. */
function code(bytes: number): string {
  let text = '';
  for (let line = 0; text.length < bytes; line++)
    text += `  const part${line} = await read(${Math.random()}, { signal, ${Math.random().toString(36).slice(2)} });\n`;
  return text.slice(0, bytes);
}

it('EN205: an answer with 40 calls of 4 KB takes 300 KiB of the database at most, with its observations', async () => {
  const database = temporaryDatabase();
  onTestFinished(() => database.dispose());
  const storage = await database.open();
  const toolCalls = Array.from({ length: CALLS }, (_, n) => ({
    name: 'str_replace_editor',
    arguments: { command: 'create', path: `/workspace/file${n}.ts`, file_text: code(4_000) },
  }));
  const { say, untilState, conversation, events } = await stage({ log: await storage.events.open(ID), script: [{ toolCalls }, done] });
  await say('write the files');
  await untilState('finished');
  expect((await events()).filter(({ tool_call_metadata }) => tool_call_metadata)).toHaveLength(2 * CALLS + 1);
  await conversation.close();
  await storage.close();
  const db = new DatabaseSync(database.path, { readOnly: true });
  const { kib } = db.prepare("SELECT sum(pgsize) / 1024 AS kib FROM dbstat WHERE name IN ('events', 'payloads')").get() as { kib: number };
  db.close();
  expect(kib).toBeGreaterThan(160);
  expect(kib).toBeLessThanOrEqual(300);
});
