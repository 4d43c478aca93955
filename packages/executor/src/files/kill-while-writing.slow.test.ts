import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { itInFull } from '@tendon/testing';
import { expect, it, onTestFinished } from 'vitest';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

const isTemporary = (name: string): boolean => name.endsWith('.tmp');

it('RT61: SIGKILL in the middle of a write leaves the old file, and the next executor leaves nothing else', async () => {
  const first = await startExecutor();
  onTestFinished(() => first.kill());
  const path = join(first.workspace, 'a.bin');
  writeFileSync(path, 'old');
  const upload = request({ socketPath: first.config.endpoint.socketPath, method: 'PUT', path: `/files?path=${path}` }).on(
    'error',
    () => {},
  );
  upload.write(Buffer.alloc(1024 * 1024, 'n')); // and never the rest
  await until(() => readdirSync(first.workspace).some(isTemporary));
  await ended(first);
  expect(readFileSync(path, 'utf8')).toBe('old');

  const second = await startExecutor({ folders: { workspace: first.workspace, workDir: first.workspace } }, { HOME: first.workspace });
  onTestFinished(() => second.kill());
  await second.act('write', { path: 'b', content: 'new' });
  expect(readdirSync(first.workspace).filter(isTemporary)).toEqual([]);
  expect(readFileSync(path, 'utf8')).toBe('old');
});

itInFull('RT61: an executor that starts in the same home leaves what another one is writing', async () => {
  const first = await startExecutor();
  onTestFinished(() => first.kill());
  const home = { HOME: first.workspace };
  const writer = await startExecutor({ folders: { workspace: first.workspace, workDir: first.workspace } }, home);
  onTestFinished(() => writer.kill());
  const path = join(first.workspace, 'a.bin');
  const { promise: answered, resolve } = Promise.withResolvers<number | undefined>();
  const upload = request({ socketPath: writer.config.endpoint.socketPath, method: 'PUT', path: `/files?path=${path}` }, (response) =>
    resolve(response.resume().statusCode),
  );
  upload.write('ne');
  await until(() => readdirSync(first.workspace).some(isTemporary));
  const later = await startExecutor({ folders: { workspace: first.workspace, workDir: first.workspace } }, home);
  onTestFinished(() => later.kill());
  await later.act('write', { path: 'b', content: 'new' });
  upload.end('w');
  expect(await answered).toBe(204);
  expect(readFileSync(path, 'utf8')).toBe('new');
});

it('RT61: killed anywhere in a storm of edits, a file is one of the wholes', async () => {
  const first = await startExecutor();
  onTestFinished(() => first.kill());
  const whole = (letter: string): string => letter.repeat(3_000_000);
  const path = join(first.workspace, 'a.txt');
  writeFileSync(path, whole('a'));
  const storm = [...'bcdefghijk'].map((letter) => first.act('write', { path, content: whole(letter) }).catch(() => undefined));
  await Promise.race(storm);
  await ended(first);
  await Promise.all(storm);
  const text = readFileSync(path, 'utf8');
  expect(text === whole(text[0]!)).toBe(true);
});

it('RT64: an edit is undone by another executor with the same home', async () => {
  const first = await startExecutor();
  onTestFinished(() => first.kill());
  const path = join(first.workspace, 'a.txt');
  await first.act('edit', { command: 'create', path, file_text: 'one' });
  await first.act('edit', { command: 'str_replace', path, old_str: 'one', new_str: 'two' });
  await ended(first);
  const second = await startExecutor(
    { incarnation: 'two', folders: { workspace: first.workspace, workDir: first.workspace } },
    { HOME: first.workspace },
  );
  onTestFinished(() => second.kill());
  await second.act('edit', { command: 'undo_edit', path });
  expect(readFileSync(path, 'utf8')).toBe('one');
});

async function ended(executor: TestExecutor): Promise<void> {
  const over = new Promise((resolve) => executor.process.once('exit', resolve));
  executor.process.kill('SIGKILL');
  await over;
}

async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 90_000; !holds(); await delay(5)) {
    if (performance.now() > end) throw new Error('it never came to this');
  }
}
