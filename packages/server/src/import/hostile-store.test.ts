import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { openSqliteStorage } from '@tendon/core/storage';
import { toJson } from '@tendon/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../platform/config/config.ts';
import { hostileValue, SEED } from '../fuzz/hostile-values.test-support.ts';
import { systemClock } from '../platform/system-clock.ts';
import { importStore } from './import-store.ts';

const SECRET = 'not for the agent';

function makePlace() {
  const root = mkdtempSync(join(tmpdir(), 'tendon-hostile-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const store = join(root, 'store');
  const at = (path: string): string => {
    mkdirSync(dirname(join(store, path)), { recursive: true });
    return join(store, path);
  };
  const read = readConfig({ TENDON_HOME: join(root, 'home') });
  if (!read.ok) throw new Error(read.problems.join());
  const { config } = read;
  const problems: string[] = [];
  return {
    root,
    at,
    problems,
    put: (path: string, value: unknown) =>
      writeFileSync(at(path), Buffer.isBuffer(value) || typeof value === 'string' ? value : JSON.stringify(value)),
    run: (path = store, dryRun = false) =>
      importStore({ path, config, dryRun, clock: systemClock, onProblem: (sentence) => problems.push(sentence), onProgress: () => {} }),
    async eventsOf(id: string) {
      const storage = await openSqliteStorage({
        path: join(config.home, 'tendon.db'),
        blobDir: join(config.home, 'blobs'),
        clock: systemClock,
      });
      const events = (await (await storage.events.open(id)).read()).map(toJson);
      await storage.close();
      return events;
    },
  };
}

const HELLO = { id: 0, source: 'user', action: 'message', args: { content: 'Hello' } };

it('SV132: what is no event costs itself: links, pipes, noise, other text, and more than a file may hold', async () => {
  const { root, at, put, problems, run, eventsOf } = makePlace();
  writeFileSync(join(root, 'secret'), SECRET);
  put('sessions/a/events/0.json', HELLO);
  symlinkSync(join(root, 'secret'), at('sessions/a/events/1.json'));
  execFileSync('mkfifo', [at('sessions/a/events/2.json')]);
  put('sessions/a/events/3.json', Buffer.from([0x7b, 0xff, 0xfe, 0x00]));
  put('sessions/a/events/4.json', '"text"');
  mkdirSync(at('sessions/a/events/5.json'));
  put('sessions/a/events/6.json', '');
  truncateSync(at('sessions/a/events/6.json'), 300 * 1024 * 1024);
  put('sessions/a/events/7.json', `{"action":"x","args":${'['.repeat(200_000)}${']'.repeat(200_000)}}`);
  put('sessions/a/events/8.json', { id: 0, source: 'user', action: 'message', args: { content: 'Bye' } });
  execFileSync('mkfifo', [at('sessions/a/metadata.json'), at('settings.json')]);
  symlinkSync(join(root, 'secret'), at('secrets.json'));
  expect(await run()).toMatchObject({ conversations: 1, events: 9, failed: 0, taken: [] });
  const events = await eventsOf('a');
  expect(events.slice(0, 9).map((event) => event.action ?? event.observation)).toEqual([
    'message',
    ...Array<string>(7).fill('error'),
    'message',
  ]);
  expect(events[8]).toMatchObject({ id: 8, args: { content: 'Bye' } });
  for (const words of ['1.json: it is a link', '2.json: it is not a file', '3.json: it is not UTF-8', '4.json: it is not a JSON object'])
    expect(problems).toContainEqual(expect.stringContaining(words));
  for (const words of [
    '6.json: it is larger than',
    'metadata.json: it is not a file',
    'settings.json: it is not a file',
    'secrets.json: it is a link',
  ])
    expect(problems).toContainEqual(expect.stringContaining(words));
  expect([...problems, JSON.stringify(events)].filter((text) => text.includes(SECRET))).toEqual([]);
});

it('SV132: a pipe in the place of a trajectory is refused, and a link to one is followed', async () => {
  const { root, run } = makePlace();
  const pipe = join(root, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await expect(run(pipe)).rejects.toThrow('neither a folder nor a file');
  writeFileSync(join(root, 'real.json'), JSON.stringify([HELLO]));
  symlinkSync(join(root, 'real.json'), join(root, 'trajectory-link.json'));
  expect(await run(join(root, 'trajectory-link.json'))).toMatchObject({ conversations: 1, events: 1 });
});

it('SV132: any JSON as events, ids of folders and settings is taken, left out or reported', async () => {
  const { put, problems, run } = makePlace();
  let id = 0;
  const property = fc.asyncProperty(fc.array(hostileValue, { minLength: 1, maxLength: 5 }), hostileValue, async (events, other) => {
    const folder = `sessions/fuzz-${id++}`;
    for (const [event, value] of events.entries()) put(`${folder}/events/${event}.json`, { ...HELLO, [`x${event}`]: value, args: value });
    put(`${folder}/metadata.json`, other ?? null);
    put('settings.json', other ?? null);
    put('secrets.json', { custom_secrets: other });
    const { conversations, failed } = await run();
    expect([conversations, failed]).toEqual([1, 0]);
  });
  await fc.assert(property, { numRuns: 12, seed: SEED, endOnFailure: true });
  expect(Object.keys(Object.prototype)).toEqual([]);
  for (const name of ['.hidden', '-x', 'a b', 'ü', 'x'.repeat(101)]) put(`sessions/${name}/events/0.json`, HELLO);
  expect(await run()).toMatchObject({ conversations: 0, failed: 5 });
  expect(problems).toContainEqual(expect.stringContaining('"-x" cannot be an id'));
});
