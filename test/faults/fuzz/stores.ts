/** What is read from folders that somebody else may have made: stores to import, backups, configuration. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { onTestFinished } from 'vitest';
import { openSqliteStorage } from '@tendon/core/storage';
import { backupStore } from '../../../packages/server/src/backup/backup-store.ts';
import { hashesOf, MANIFEST, verifiedManifest } from '../../../packages/server/src/backup/manifest.ts';
import { restoreStore } from '../../../packages/server/src/backup/restore-store.ts';
import { heapBytes } from '../../../packages/server/src/collect-garbage.test-support.ts';
import { Environment, readConfig } from '../../../packages/server/src/platform/config/config.ts';
import { withConfigFile } from '../../../packages/server/src/platform/config/with-config-file.ts';
import { HOSTILE_TEXTS, hostileText, hostileValue } from '../../../packages/server/src/fuzz/hostile-values.test-support.ts';
import { importStore } from '../../../packages/server/src/import/import-store.ts';
import { systemClock } from '../../../packages/server/src/platform/system-clock.ts';
import { volley, type Volleys } from './volley.ts';

const FAULTS = /^(?:Type|Range|Reference|Syntax|Assertion)Error$/;

/** A refusal in words is an answer; a fault of the program's own is none. */
async function inWords(work: Promise<unknown>): Promise<void> {
  await work.catch((error: Error) => {
    if (FAULTS.test(error.constructor.name) || error.message === '') throw error;
  });
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'tendon-fuzz-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const here = { expectUnharmed: async () => {}, heldBytes: async () => heapBytes() };

export async function imports(): Promise<Volleys> {
  const root = folder();
  const event = fc.oneof(
    hostileValue,
    fc.record(
      {
        id: fc.oneof(fc.nat(20), hostileValue),
        source: hostileValue,
        action: fc.oneof(fc.constantFrom('message', 'run', 'finish'), hostileValue),
        args: hostileValue,
      },
      { requiredKeys: [] },
    ),
  );
  const name = fc.constantFrom(
    'sessions/a/events/0.json',
    'sessions/a/events/1.json',
    'sessions/b/events/0.json',
    'sessions/a/metadata.json',
    'settings.json',
    'secrets.json',
    'users/x/conversations/c/events/0.json',
  );
  const files = fc.dictionary(
    name,
    fc.oneof(
      event.map((value) => JSON.stringify(value) ?? ''),
      hostileText,
    ),
    { maxKeys: 6 },
  );
  let count = 0;
  const shoot = volley(files, async (drawn) => {
    const place = join(root, String(count++));
    for (const [path, text] of Object.entries(drawn)) {
      mkdirSync(dirname(join(place, 'store', path)), { recursive: true });
      writeFileSync(join(place, 'store', path), text);
    }
    const read = readConfig({ TENDON_HOME: join(place, 'home') });
    if (!read.ok) throw new Error(read.problems.join());
    await inWords(
      importStore({
        path: join(place, 'store'),
        config: read.config,
        dryRun: false,
        clock: systemClock,
        onProblem: () => {},
        onProgress: () => {},
      }),
    );
    rmSync(place, { recursive: true, force: true });
  });
  return { ...here, volleys: [shoot] };
}

export async function backups(): Promise<Volleys> {
  const root = folder();
  const home = join(root, 'home');
  const storage = await openSqliteStorage({ path: join(home, 'tendon.db'), blobDir: join(home, 'blobs'), clock: systemClock });
  for (const id of ['a', 'b']) {
    await storage.records.put('conversations', { id, sort: '', value: { id, workspace: join(home, 'workspaces', id) } });
  }
  await storage.close();
  const backup = join(root, 'backup');
  await backupStore({ home, to: backup, withSecrets: false, now: new Date(), onProblem: () => {} });
  const manifest = await verifiedManifest(backup);
  const change = fc.record({ at: fc.nat(40_000), bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }) });
  const damage = fc.record({
    changes: fc.array(change, { maxLength: 4 }),
    manifest: fc.dictionary(fc.constantFrom('home', 'files', 'tendon_backup', 'created_at', 'x'), hostileValue, { maxKeys: 2 }),
    isSealed: fc.boolean(),
  });
  let count = 0;
  const shoot = volley(damage, async ({ changes, manifest: more, isSealed }) => {
    const place = join(root, String(count++));
    const from = join(place, 'backup');
    await cp(backup, from, { recursive: true });
    const database = join(from, 'tendon.db');
    const content = readFileSync(database);
    for (const { at, bytes } of changes)
      content.set(bytes.subarray(0, Math.max(0, content.length - (at % content.length))), at % content.length);
    writeFileSync(database, content);
    writeFileSync(join(from, MANIFEST), JSON.stringify({ ...manifest, ...(isSealed && { files: await hashesOf(from) }), ...more }));
    await inWords(
      restoreStore({
        from,
        home: join(place, 'into'),
        folders: { workspaceBase: undefined, allowedDirs: [] },
        force: false,
        clock: systemClock,
      }),
    );
    rmSync(place, { recursive: true, force: true });
  });
  return { ...here, volleys: [shoot] };
}

export async function configurations(): Promise<Volleys> {
  const home = folder();
  const names = fc.constantFrom(...Object.keys(Environment.shape).filter((name) => name !== 'TENDON_HOME'));
  const value = fc.oneof(
    hostileText,
    fc.constantFrom(
      ...HOSTILE_TEXTS,
      '0',
      '-1',
      '1e9',
      'true',
      '[]',
      '{}',
      '{"a":',
      'http://[',
      '99999999999999999999g',
      'remote',
      'docker',
    ),
  );
  const variables = volley(fc.dictionary(names, value, { maxKeys: 8 }), async (env) => {
    const read = readConfig({ ...env, TENDON_HOME: home });
    if (!read.ok && (read.problems.length === 0 || read.problems.some((problem) => problem.trim() === '')))
      throw new Error(JSON.stringify(env));
  });
  const line = fc.tuple(
    fc.oneof(fc.constantFrom('[core]', '[llm]', '[sandbox]', '[mcp]', '[[', '#'), hostileText),
    fc.oneof(fc.constantFrom('model = "a"', 'workspace_base = 1', 'x = [[[[', 'runtime = """'), hostileText),
  );
  const files = volley(fc.array(line, { maxLength: 6 }), async (lines) => {
    writeFileSync(join(home, 'config.toml'), lines.flat().join('\n'));
    const filed = await withConfigFile({ TENDON_HOME: home });
    if (filed.ok) readConfig(filed.env);
    else if (filed.problems.length === 0) throw new Error(lines.flat().join('\n'));
  });
  return { ...here, volleys: [variables, files] };
}
