import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStorage } from '@tendon/core/storage';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../platform/system-clock.ts';
import { backupStore } from './backup-store.ts';
import { hashesOf, MANIFEST, type Manifest } from './manifest.ts';
import { restoreStore } from './restore-store.ts';

async function makeBackup() {
  const root = mkdtempSync(join(tmpdir(), 'tendon-hostile-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = join(root, 'home');
  const storage = await openSqliteStorage({ path: join(home, 'tendon.db'), blobDir: join(home, 'blobs'), clock: systemClock });
  await storage.records.put('conversations', { id: 'c', sort: '', value: { id: 'c', workspace: join(home, 'workspaces/c') } });
  await storage.close();
  const from = join(root, 'backup');
  await backupStore({ home, to: from, withSecrets: false, now: new Date(), onProblem: () => {} });
  const manifest = JSON.parse(readFileSync(join(from, MANIFEST), 'utf8')) as Manifest;
  const into = join(root, 'into');
  return {
    root,
    from,
    home,
    into,
    manifest,
    restore: (allowedDirs: readonly string[] = []) =>
      restoreStore({ from, home: into, folders: { workspaceBase: undefined, allowedDirs }, force: false, clock: systemClock }),
    /** As somebody would who wants it to be taken. */
    async sealed(changes: Partial<Manifest> = {}) {
      writeFileSync(join(from, MANIFEST), JSON.stringify({ ...manifest, files: await hashesOf(from), ...changes }));
    },
    change(sql: string, ...values: string[]) {
      const db = new DatabaseSync(join(from, 'tendon.db'));
      db.prepare(sql).run(...values);
      db.close();
    },
  };
}

type Backup = Awaited<ReturnType<typeof makeBackup>>;

const DAMAGES: readonly (readonly [string, (backup: Backup) => unknown, RegExp])[] = [
  ['a pipe', ({ from }) => (rmSync(join(from, 'tendon.db')), execFileSync('mkfifo', [join(from, 'tendon.db')])), /is not a file/],
  ['a device', ({ from }) => (rmSync(join(from, 'tendon.db')), symlinkSync('/dev/zero', join(from, 'tendon.db'))), /is not a file/],
  [
    'a link',
    ({ from, root }) => (renameSync(join(from, 'tendon.db'), join(root, 'db')), symlinkSync(join(root, 'db'), join(from, 'tendon.db'))),
    /is not a file/,
  ],
  [
    'a manifest that is a pipe',
    ({ from }) => (rmSync(join(from, MANIFEST)), execFileSync('mkfifo', [join(from, MANIFEST)])),
    /cannot be read/,
  ],
  ['a manifest of noise', ({ from }) => writeFileSync(join(from, MANIFEST), Buffer.from([0xff, 0x00])), /cannot be read/],
  ['a manifest without end', ({ from }) => truncateSync(join(from, MANIFEST), 2 ** 40), /cannot be read/],
  ['a path that leads out', ({ sealed }) => sealed({ files: { '../x': '' } }), /cannot be read/],
  ['a path that leads out of a part', ({ sealed }) => sealed({ files: { 'notes/../../x': '' } }), /cannot be read/],
  ['a part that nobody knows', ({ sealed }) => sealed({ files: { 'config.toml': '' } }), /cannot be read/],
  ['a manifest of another kind', ({ sealed }) => sealed({ tendon_backup: 2 as 1 }), /cannot be read/],
  ['noise for a database', ({ from, sealed }) => (writeFileSync(join(from, 'tendon.db'), 'x'.repeat(9000)), sealed()), /not a database/],
  ['half a database', ({ from, sealed }) => (truncateSync(join(from, 'tendon.db'), 9000), sealed()), /cannot be used/],
  ['another database', ({ change, sealed }) => (change('ALTER TABLE records RENAME TO others'), sealed()), /records/],
  [
    'a record that is no JSON',
    ({ change, sealed }) => (change('UPDATE records SET json = ?', '{"a'), sealed()),
    /conversation c is damaged/,
  ],
  ['a record of nothing', ({ change, sealed }) => (change('UPDATE records SET json = ?', 'null'), sealed()), /conversation c is damaged/],
  [
    'a sandbox of nothing',
    ({ change, sealed }) => (change(`INSERT INTO records VALUES ('sandboxes', 'c', '', 'null')`), sealed()),
    /cannot be used: .* Nothing was changed/,
  ],
  [
    'a folder that leads out',
    ({ change, sealed, home }) => (
      change('UPDATE records SET json = ?', JSON.stringify({ id: 'c', workspace: `${home}/../../out` })),
      sealed()
    ),
    /leads out of the home/,
  ],
  ...(['/root', '/', '/srv/../root', '/proc/self/root'] as const).map(
    (folder) =>
      [
        `work in ${folder}`,
        ({ change, sealed }: Backup) => (change('UPDATE records SET json = ?', JSON.stringify({ id: 'c', workspace: folder })), sealed()),
        /conversation c cannot go on here: .* Nothing was changed/,
      ] as const,
  ),
];

it.each(DAMAGES)('SV133: a backup with %s is refused in words, and nothing is changed', async (_what, damage, words) => {
  const backup = await makeBackup();
  await damage(backup);
  await expect(backup.restore()).rejects.toThrow(words);
  expect(existsSync(backup.into) ? readdirSync(backup.into) : []).toEqual([]);
  expect(readdirSync(backup.home)).toContain('tendon.db');
});

it('SV133: sealed anew it is taken, and its folders are below the new home', async () => {
  const { sealed, restore, into } = await makeBackup();
  await sealed();
  expect(await restore()).toMatchObject({ conversations: 1 });
  expect(readdirSync(join(into, 'workspaces'))).toEqual(['c']);
});

it('SV133: what this machine allows is taken, also where it lies outside of the home', async () => {
  const { root, change, sealed, restore } = await makeBackup();
  const project = join(root, 'projects/one');
  change('UPDATE records SET json = ?', JSON.stringify({ id: 'c', workspace: project }));
  await sealed();
  await expect(restore()).rejects.toThrow(/TENDON_ALLOWED_DIRS/);
  expect(await restore([join(root, 'projects')])).toMatchObject({ conversations: 1 });
});
