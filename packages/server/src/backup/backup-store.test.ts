import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { Secret } from '@tendon/protocol/masking';
import { openSqliteStorage } from '@tendon/core/storage';
import { MessageAction, toJson } from '@tendon/protocol';
import { expect, it, onTestFinished } from 'vitest';
import { SecretStore } from '../secrets/secret-store.ts';
import { systemClock } from '../platform/system-clock.ts';
import { backupStore } from './backup-store.ts';
import { restoreStore } from './restore-store.ts';

const NO_FOLDERS = { workspaceBase: undefined, allowedDirs: [] };

async function makePlace() {
  const root = mkdtempSync(join(tmpdir(), 'tendon-backup-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = join(root, 'home');
  const open = async (folder: string) => {
    const storage = await openSqliteStorage({ path: join(folder, 'tendon.db'), blobDir: join(folder, 'blobs'), clock: systemClock });
    onTestFinished(() => storage.close());
    return storage;
  };
  const storage = await open(home);
  const log = await storage.events.open('c');
  const say = (content: string) => log.append([{ ...MessageAction.create({ content }), source: 'user' }], { expectedId: log.nextId });
  await say('first');
  await say('x'.repeat(50_000));
  await say('x'.repeat(500_000));
  await storage.records.put('conversations', { id: 'c', sort: '', value: { id: 'c', workspace: join(home, 'workspaces/c') } });
  await (await SecretStore.open(storage.records, new Secret('0123456789'))).create({ name: 'TOKEN', value: 'abcdefghij' });
  const to = join(root, 'backup');
  const problems: string[] = [];
  const save = (withSecrets = false) =>
    backupStore({ home, to, withSecrets, now: new Date(), onProblem: (sentence) => problems.push(sentence) });
  const restore = (into: string, force = false, withPrograms = false) =>
    restoreStore({ from: to, home: into, folders: NO_FOLDERS, force, withPrograms, clock: systemClock });
  return { root, home, to, storage, log, say, problems, open, save, restore };
}

it('TJ9, TJ11: a store in use is copied whole, and comes back in another home', async () => {
  const { root, storage, log, say, problems, open, save, restore } = await makePlace();
  const before = await log.read();
  expect(await save()).toEqual({ conversations: 1, files: 2 });
  await say('later');
  await storage.events.delete('c');
  const other = join(root, 'other');
  expect(await restore(other)).toEqual({ conversations: 1, aside: undefined, leftOut: [] });
  const restored = await open(other);
  expect((await (await restored.events.open('c')).read()).map(toJson)).toEqual(before.map(toJson));
  expect(await restored.records.get('conversations', 'c')).toMatchObject({ workspace: join(other, 'workspaces/c') });
  expect([...problems, ...restored.findings]).toEqual([]);
});

it('TJ10: keys stay at home unless they are asked for', async () => {
  const { root, home, to, storage, open, save, restore } = await makePlace();
  const sealed = (name: string): string => `v1.sealed-of-${name}`;
  await storage.records.put('mcp-logins', { id: 'a', sort: '', value: sealed('a-login') });
  await storage.records.put('push_devices', { id: 'a', sort: '', value: { sealed: sealed('a-device') } });
  await storage.records.put('push_key', { id: 'vapid', sort: '', value: { sealed: sealed('the-key-of-pushes') } });
  await storage.records.put('triggers', { id: 'a', sort: '', value: { id: 'a', name: 'nightly', sealed: sealed('a-trigger') } });
  const keyed = { id: 'k', workspace: join(home, 'workspaces/k'), model_access: sealed('a-model'), tool_servers: sealed('its-servers') };
  await storage.records.put('conversations', { id: 'k', sort: '', value: keyed });
  await save();
  const saved = readFileSync(join(to, 'tendon.db'));
  expect(['TOKEN', 'v1.', 'nightly'].map((text) => saved.includes(text))).toEqual([false, false, true]);
  rmSync(to, { recursive: true });
  await save(true);
  await restore(join(root, 'other'));
  expect(await (await open(join(root, 'other'))).records.list('secrets')).toHaveLength(1);
});

it('TJ9, TJ12: what was there is not overwritten, and put aside when forced', async () => {
  const { home, storage, save, restore } = await makePlace();
  await save();
  await expect(save()).rejects.toThrow('is there already');
  await expect(restore(home, true)).rejects.toThrow('in use');
  await storage.close();
  await expect(restore(home)).rejects.toThrow('has 1 conversations');
  const { aside } = await restore(home, true);
  expect(readdirSync(aside!)).toContain('tendon.db');
});

it('TJ22: the state of its sandboxes is set aside with their store, and no sandbox is attached to', async () => {
  const { home, storage, save, open, restore } = await makePlace();
  const record = { driver: 'local', incarnation: '0123456789abcdef', workspace: home, started_at: '2026-11-22T00:00:00.000Z' };
  const put = (id: string, state: object) =>
    storage.records.put('sandboxes', { id, sort: record.started_at, value: { conversation_id: id, ...record, ...state } });
  await put('c', { state: 'live', handle: { socketPath: '/s', groups: [] } });
  await save();
  await put('c', { incarnation: 'fedcba9876543210', state: 'asleep', reason: 'it was idle' });
  await put('later', { state: 'live', handle: { socketPath: '/s', groups: [] } });
  await storage.close();
  mkdirSync(join(home, 'sandboxes', 'a', 'state'), { recursive: true });
  writeFileSync(join(home, 'sandboxes', 'a', 'state', 'journal.ndjson'), '{}');
  const { aside } = await restore(home, true);
  expect(readdirSync(join(aside!, 'sandboxes', 'a', 'state'))).toEqual(['journal.ndjson']);
  expect(readdirSync(home)).not.toContain('sandboxes');
  const sandboxes = await (await open(home)).records.list('sandboxes');
  expect(sandboxes.map(({ value }) => value)).toEqual([
    { conversation_id: 'later', ...record, state: 'replaced' },
    { conversation_id: 'c', ...record, incarnation: 'fedcba9876543210', state: 'replaced' },
  ]);
});

it.each(['tendon.db', 'manifest.json'])('TJ11: a backup whose %s was changed is refused before anything is done', async (name) => {
  const { root, to, save, restore } = await makePlace();
  await save();
  appendFileSync(join(to, name), 'x');
  await expect(restore(join(root, 'other'))).rejects.toThrow('Nothing was changed');
  expect(readdirSync(root).toSorted()).toEqual(['backup', 'home']);
});

function write(home: string, name: string, content: string, mode = 0o600): void {
  mkdirSync(dirname(join(home, name)), { recursive: true });
  writeFileSync(join(home, name), content, { mode });
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .filter((name) => !/^(?:tendon\.db|blobs|manifest|jwt-secret)/.test(name))
    .toSorted();

it('EX928, EX929: what the user writes is in it, and what is executed comes back only when that is asked for', async () => {
  const { root, home, to, problems, save, restore } = await makePlace();
  const texts = { 'skills/pack/SKILL.md': 'How.', 'notes/user.md': '- Tea.', 'agents/calm.md': 'Be calm.' };
  const programs = { 'hooks.json': '{}', 'hooks/guard.sh': 'exit 2', 'tools/lib/a.ts': '1', 'plugins/shop/plugin.json': '{}' };
  for (const [name, content] of Object.entries({ ...texts, ...programs })) write(home, name, content, name.endsWith('.sh') ? 0o700 : 0o600);
  write(home, 'tools/node_modules/x/index.js', '');
  write(root, 'linked/SKILL.md', 'linked');
  symlinkSync(join(root, 'linked'), join(home, 'skills/linked'));
  symlinkSync('/etc/passwd', join(home, 'tools/lib/b.ts'));
  await save();
  expect(problems).toEqual([expect.stringContaining('tools/lib/b.ts is no file')]);
  const all = [...Object.keys(texts), ...Object.keys(programs), 'skills/linked/SKILL.md'].toSorted();
  expect(filesIn(to)).toEqual(all);
  const other = join(root, 'other');
  write(other, 'skills/mine/SKILL.md', 'mine');
  write(other, 'tools/mine.ts', 'mine');
  const { aside, leftOut } = await restore(other);
  expect(leftOut).toEqual(['hooks.json', 'hooks', 'tools', 'plugins']);
  expect(filesIn(other)).toEqual([...Object.keys(texts), 'skills/linked/SKILL.md', 'tools/mine.ts'].toSorted());
  expect(filesIn(aside!)).toEqual(['skills/mine/SKILL.md']);
  const third = join(root, 'third');
  expect(await restore(third, false, true)).toMatchObject({ leftOut: [], aside: undefined });
  expect(filesIn(third)).toEqual(all);
  expect(statSync(join(third, 'hooks/guard.sh')).mode & 0o777).toBe(0o700);
});

it('EX928: what cannot be in a backup is reported, and the rest of it can be restored', async () => {
  const { root, home, problems, save, restore } = await makePlace();
  write(home, 'skills/a/SKILL.md', 'How.');
  write(home, 'skills/a/odd\\name.md', '');
  write(home, 'hooks', 'a file where a folder is expected');
  write(home, 'plugins.json/a', '');
  mkdirSync(join(home, 'notes'));
  writeFileSync(Buffer.concat([Buffer.from(join(home, 'notes/')), Buffer.from([0xff])]), '');
  await save();
  expect(problems).toEqual(
    ['odd\\name.md is not in', 'notes/\uFFFD is not in', 'hooks is not in', 'plugins.json/a is not in'].map(
      (words) => expect.stringContaining(words) as string,
    ),
  );
  const other = join(root, 'other');
  mkdirSync(other);
  symlinkSync(join(root, 'gone'), join(other, 'skills'));
  const { aside } = await restore(other, false, true);
  expect(filesIn(other)).toEqual(['skills/a/SKILL.md']);
  expect(readdirSync(aside!)).toEqual(['skills']);
});
