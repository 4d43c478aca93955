import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openSqliteStorage } from '@tendon/core/storage';
import { INITIAL_STATE, reduce, toJson } from '@tendon/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../platform/config/config.ts';
import { systemClock } from '../platform/system-clock.ts';
import { fakeProvider } from '../git-providers/apis/fake-provider.test-support.ts';
import { importStore } from './import-store.ts';

const at = (second: number) => `2024-12-01T10:00:${String(second).padStart(2, '0')}.000001`;
/** As 0.15 wrote them: `exit_code` beside the command, `is_confirmed`, `keep_prompt`. */
const OLD = [
  { id: 0, timestamp: at(0), source: 'user', message: 'hi', action: 'message', args: { content: 'Say hello', images_urls: null } },
  { id: 1, timestamp: at(1), source: 'agent', action: 'run', args: { command: 'echo hi', is_confirmed: 'confirmed', keep_prompt: true } },
  {
    ...{ id: 2, timestamp: at(2), source: 'agent', cause: 1, observation: 'run', content: 'hi' },
    extras: { command_id: -1, command: 'echo hi', exit_code: 3, hidden: false },
  },
  { id: 3, timestamp: at(3), source: 'agent', action: 'dance', args: { steps: 3 }, extra: null },
];
/** As 0.62, cut off in mid run; event 2 is missing, 3 damaged. */
const NEW = [
  { id: 0, timestamp: at(0), source: 'environment', observation: 'agent_state_changed', content: '', extras: { agent_state: 'running' } },
  { id: 1, timestamp: at(1), source: 'user', action: 'message', args: { content: 'x'.repeat(100_000) } },
  undefined,
  '{"id": 3, "act',
  { id: 4, timestamp: at(4), source: 'agent', action: 'run', args: { command: 'sleep 9', security_risk: -1 }, timeout: null },
];

function makePlace() {
  const root = mkdtempSync(join(tmpdir(), 'tendon-import-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const store = join(root, 'openhands');
  const put = (path: string, value: unknown) => {
    mkdirSync(dirname(join(store, path)), { recursive: true });
    writeFileSync(join(store, path), typeof value === 'string' ? value : JSON.stringify(value));
  };
  for (const [id, event] of OLD.entries()) put(`sessions/old-1/events/${id}.json`, event);
  for (const [id, event] of NEW.entries()) if (event) put(`users/me/conversations/new1/events/${id}.json`, event);
  put('sessions/old-1/metadata.json', { title: 'Hello', created_at: '2024-12-01T10:00:00Z', selected_repository: 'a/b', pr_number: [7] });
  put('settings.json', { llm_model: 'openai/gpt-4o', llm_api_key: 'sk-0123456789', max_iterations: 'many' });
  put('secrets.json', { custom_secrets: { TOKEN: { secret: 'abcdefghij', description: 'mine' } } });
  const read = readConfig({ TENDON_HOME: join(root, 'home') });
  if (!read.ok) throw new Error(read.problems.join());
  const { config } = read;
  const problems: string[] = [];
  const run = (path = store, dryRun = false) =>
    importStore({ path, config, dryRun, clock: systemClock, onProblem: (sentence) => problems.push(sentence), onProgress: () => {} });
  const open = async () => {
    const storage = await openSqliteStorage({
      path: join(config.home, 'tendon.db'),
      blobDir: join(config.home, 'blobs'),
      clock: systemClock,
    });
    onTestFinished(() => storage.close());
    return storage;
  };
  return { root, store, put, config, problems, run, open };
}

function fingerprint(folder: string): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    hash.update(path).update(entry.isFile() ? readFileSync(path) : '');
  }
  return hash.digest('hex');
}

it('TJ1, TJ4, TJ5: an old conversation comes over event by event, and the original is untouched', async () => {
  const { store, run, open } = makePlace();
  const before = fingerprint(store);
  expect(await run()).toMatchObject({ conversations: 2, events: 9, known: 0, failed: 0, taken: ['the settings', '1 secret'] });
  expect(fingerprint(store)).toBe(before);
  const storage = await open();
  const events = (await (await storage.events.open('old-1')).read()).map(toJson);
  expect(events.slice(0, 4)).toMatchObject([
    { id: 0, source: 'user', action: 'message', timestamp: new Date(at(0)).toISOString() },
    { id: 1, action: 'run', args: { command: 'echo hi', confirmation_state: 'confirmed' } },
    { id: 2, cause: 1, observation: 'run', extras: { exit_code: 3, metadata: { exit_code: 3 } } },
    { id: 3, action: 'dance', args: { steps: 3 } },
  ]);
  expect(await storage.records.get('conversations', 'old-1')).toMatchObject({
    title: 'Hello',
    selected_repository: 'a/b',
    stopped: true,
    pr_number: [7],
  });
});

it('TJ2, TJ6: what is lost has an error in its place, and what was cut off rests', async () => {
  const { problems, run, open } = makePlace();
  await run();
  expect(problems.filter((sentence) => sentence.includes('new1'))).toEqual([
    expect.stringContaining('2.json: its file is missing'),
    expect.stringContaining('3.json: '),
  ]);
  const storage = await open();
  const log = await storage.events.open('new1');
  const events = await log.read();
  expect(events.slice(1).map(toJson)).toMatchObject([
    { id: 1, args: { content: 'x'.repeat(100_000) } },
    { id: 2, observation: 'error' },
    { id: 3, observation: 'error' },
    { id: 4, action: 'run' },
    { id: 5, observation: 'error', cause: 4 },
    { id: 6, observation: 'agent_state_changed', extras: { agent_state: 'stopped' } },
  ]);
  expect(events.reduce(reduce, INITIAL_STATE)).toMatchObject({ pending: [], agentState: 'stopped' });
});

it('TJ3, TJ7: a second import adds nothing', async () => {
  const { config, problems, run, open } = makePlace();
  await run();
  expect(problems).toContainEqual(expect.stringContaining('"max_iterations" was left out'));
  expect(await run()).toMatchObject({ conversations: 0, events: 0, known: 2, taken: [] });
  const storage = await open();
  expect((await storage.events.open('old-1')).nextId).toBe(5);
  expect(readFileSync(join(config.home, 'tendon.db')).includes('sk-0123456789')).toBe(false);
});

it('TJ3: an import that was cut off goes on where it was', async () => {
  const { run, open } = makePlace();
  await run();
  const storage = await open();
  await storage.records.delete('conversations', 'old-1');
  await storage.close();
  expect(await run()).toMatchObject({ conversations: 1, known: 1 });
  expect((await (await open()).events.open('old-1')).nextId).toBe(5);
});

it('TJ8: a dry run writes nothing, and says what the import will', async () => {
  const { root, store, put, problems, run } = makePlace();
  put('sessions/damaged/events/0.json', OLD[0]);
  put('sessions/damaged/metadata.json', '{"title": ');
  mkdirSync(join(store, 'sessions/empty/events'), { recursive: true });
  const tried = await run(store, true);
  expect(readdirSync(root)).toEqual(['openhands']);
  const reported = problems.splice(0);
  expect(tried).toMatchObject({ conversations: 3, events: 10, failed: 1, taken: ['the settings', '1 secret'] });
  expect(await run()).toEqual(tried);
  expect(problems).toEqual(reported);
});

it('TJ2: a text that has no event at all is refused, and no conversation is made of it', async () => {
  const { root, run } = makePlace();
  const file = join(root, 'notes.json');
  writeFileSync(file, 'first line\nsecond line\n5\n');
  expect(await run(file)).toMatchObject({ conversations: 0, failed: 1 });
  writeFileSync(file, `torn\n${JSON.stringify(OLD[0])}\n`);
  expect(await run(file)).toMatchObject({ conversations: 1, events: 2, failed: 0 });
});

it('TJ1: a trajectory gets ids of its own, and its causes are moved with them', async () => {
  const { root, run, open } = makePlace();
  const file = join(root, 'trajectory-abc.json');
  writeFileSync(file, JSON.stringify([OLD[0], { ...OLD[1], id: 7 }, { ...OLD[2], id: 9, cause: 7 }]));
  expect(await run(file)).toMatchObject({ conversations: 1, events: 3 });
  expect((await (await (await open()).events.open('abc')).read()).map(({ cause }) => cause)).toEqual([undefined, undefined, 1, undefined]);
});

it('TJ2: a file name alone makes no million of events; a hostile folder is refused and the others are taken', async () => {
  const { put, problems, run } = makePlace();
  put('sessions/huge/events/99999999.json', {});
  put('sessions/deep/events/0.json', `{"action":"message","args":{"content":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`);
  expect(await run()).toMatchObject({ conversations: 3, failed: 1 });
  expect(problems).toContainEqual(expect.stringContaining('99999999'));
  await expect(run('/nowhere/at/all')).rejects.toThrow('is not there');
});

it('TJ7: a token of a git provider is shown to it first; one that is refused is reported, and a dry run asks nobody', async () => {
  const { put, problems, run, open } = makePlace();
  const fake = await fakeProvider('glpat-0123456789', { 'GET /api/v4/user': () => ({ body: { id: 1 } }) });
  const tokens = (token: string) => ({ provider_tokens: { gitlab: { token, host: fake.origin }, github: { token: '', host: null } } });
  put('secrets.json', tokens('glpat-0123456789'));
  expect(await run(undefined, true)).toMatchObject({ taken: ['the settings', 'the token of gitlab, if it is valid'] });
  expect(fake.requests).toEqual([]);
  put('secrets.json', tokens('glpat-of-yesterday'));
  expect(await run()).toMatchObject({ taken: ['the settings'] });
  expect(problems.at(-1)).toMatch(/secrets\.json: Invalid token\. .* gitlab token\.$/);
  put('secrets.json', tokens('glpat-0123456789'));
  expect(await run()).toMatchObject({ taken: ['the token of gitlab'] });
  expect(await run()).toMatchObject({ taken: [] });
  expect(await (await open()).records.get('settings', 'git-providers')).toMatchObject({ gitlab: { host: fake.origin } });
});
