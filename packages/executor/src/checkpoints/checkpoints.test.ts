import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { makeWorkspace, pictureOf } from './checkpoints.test-support.ts';

const NOBODY = 65_534;
const NOT_TEXT = Buffer.from([0x66, 0xff, 0xfe, 0x2e, 0x63]);

function fill(workspace: string): void {
  mkdirSync(join(workspace, 'src/deep'), { recursive: true });
  mkdirSync(join(workspace, 'empty'));
  writeFileSync(join(workspace, 'src/a.ts'), 'export const a = 1;\n');
  writeFileSync(join(workspace, 'src/deep/large.txt'), 'abc'.repeat(10_000));
  writeFileSync(join(workspace, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(workspace, 'grün'), 'umlaut');
  writeFileSync(Buffer.concat([Buffer.from(`${workspace}/`), NOT_TEXT]), 'not text');
  symlinkSync('src/a.ts', join(workspace, 'link'));
  symlinkSync('/etc', join(workspace, 'out'));
  mkdirSync(join(workspace, 'nested/.git'), { recursive: true });
  writeFileSync(join(workspace, 'nested/.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(workspace, 'nested/b.ts'), 'b\n');
}

describe('a checkpoint', () => {
  it('CK700: restoring gives back every file, mode, link, empty folder and name, and takes away what was added', async () => {
    const { workspace, open } = makeWorkspace();
    fill(workspace);
    const before = pictureOf(workspace);
    const checkpoints = open();
    expect(await checkpoints.before('c:e:1')).toBeUndefined();
    rmSync(join(workspace, 'src'), { recursive: true });
    writeFileSync(join(workspace, 'src'), 'a file where a folder was');
    rmSync(join(workspace, 'empty'), { recursive: true });
    chmodSync(join(workspace, 'run.sh'), 0o644);
    rmSync(join(workspace, 'link'));
    mkdirSync(join(workspace, 'link/new'), { recursive: true });
    writeFileSync(join(workspace, 'link/new/file'), 'new');
    renameSync(join(workspace, 'grün'), join(workspace, 'gruen'));
    writeFileSync(join(workspace, 'nested/b.ts'), 'changed\n');
    writeFileSync(Buffer.concat([Buffer.from(`${workspace}/`), NOT_TEXT]), 'changed');
    const changed = pictureOf(workspace);
    const { left } = await checkpoints.restore(1, 'c:e:2');
    expect(left).toEqual([]);
    expect(pictureOf(workspace)).toEqual(before);
    const [ofRestore] = (await checkpoints.list()).checkpoints;
    expect(ofRestore).toMatchObject({ number: 2, key: 'restore:c:e:2' });
    await checkpoints.restore(2, 'c:e:3');
    expect(pictureOf(workspace)).toEqual(changed);
  });

  it('CK701: nothing is added when nothing has changed, and a change of the same size is found', async () => {
    const { workspace, open } = makeWorkspace();
    fill(workspace);
    const checkpoints = open();
    for (const key of ['a', 'b', 'c']) await checkpoints.before(key);
    expect((await checkpoints.list()).checkpoints.map(({ key }) => key)).toEqual(['a']);
    writeFileSync(join(workspace, 'src/a.ts'), 'export const a = 2;\n');
    await checkpoints.before('d');
    writeFileSync(join(workspace, 'src/a.ts'), 'export const a = 3;\n');
    await checkpoints.before('e');
    expect((await checkpoints.list()).checkpoints.map(({ key }) => key)).toEqual(['e', 'd', 'a']);
    await checkpoints.restore(2, 'f');
    expect(readFileSync(join(workspace, 'src/a.ts'), 'utf8')).toBe('export const a = 2;\n');
  });

  it('CK701: a name that comes or goes is found in a folder that has long been at rest, also when its times are put back', async () => {
    const { workspace, open } = makeWorkspace();
    fill(workspace);
    const folder = join(workspace, 'src');
    const { atime, mtime, ctimeMs } = lstatSync(folder);
    const checkpoints = open();
    // Until then its times cannot show every change, and its names are read again.
    await expect.poll(() => Date.now() - ctimeMs).toBeGreaterThan(200);
    for (const key of ['a', 'b']) await checkpoints.before(key);
    writeFileSync(join(folder, 'added.ts'), '');
    utimesSync(folder, atime, mtime);
    await checkpoints.before('c');
    rmSync(join(folder, 'added.ts'));
    utimesSync(folder, atime, mtime);
    await checkpoints.before('d');
    expect((await checkpoints.list()).checkpoints.map(({ key }) => key)).toEqual(['d', 'c', 'a']);
  });

  it('CK702: folders of version control, secrets and caches are neither stored nor touched', async () => {
    const { workspace, stateDir, open } = makeWorkspace();
    fill(workspace);
    mkdirSync(join(workspace, 'node_modules/x'), { recursive: true });
    mkdirSync(join(workspace, 'built'));
    writeFileSync(join(workspace, 'built/CACHEDIR.TAG'), 'Signature: 8a477f597d28d172789f06886806bc55');
    for (const name of ['.env', '.env.local', 'server.pem', 'id_ed25519', '.npmrc']) writeFileSync(join(workspace, name), 'token-9f2c');
    writeFileSync(join(workspace, '.env.example'), 'TOKEN=');
    const checkpoints = open();
    await checkpoints.before('a');
    expect((await checkpoints.list()).left_out).toEqual(
      expect.arrayContaining(['.env', '.env.local', 'server.pem', 'id_ed25519', '.npmrc']),
    );
    writeFileSync(join(workspace, '.env'), 'changed');
    rmSync(join(workspace, 'server.pem'));
    rmSync(join(workspace, '.env.example'));
    writeFileSync(join(workspace, 'nested/.git/HEAD'), 'moved');
    writeFileSync(join(workspace, 'node_modules/x/y'), 'installed');
    writeFileSync(join(workspace, 'built/out'), 'built');
    await checkpoints.restore(1, 'b');
    expect(readFileSync(join(workspace, '.env'), 'utf8')).toBe('changed');
    expect(existsSync(join(workspace, 'server.pem'))).toBe(false);
    expect(readFileSync(join(workspace, '.env.example'), 'utf8')).toBe('TOKEN=');
    expect(readFileSync(join(workspace, 'nested/.git/HEAD'), 'utf8')).toBe('moved');
    expect(existsSync(join(workspace, 'node_modules/x/y'))).toBe(true);
    expect(existsSync(join(workspace, 'built/out'))).toBe(true);
    checkpoints.close();
    const stored = readdirSync(stateDir).map((name) => readFileSync(join(stateDir, name)));
    expect(stored.some((bytes) => bytes.includes('token-9f2c'))).toBe(false);
  });

  it('CK703: a workspace beyond the bounds has no checkpoints, and says so once and in the list', async () => {
    const { workspace, open } = makeWorkspace();
    fill(workspace);
    const checkpoints = open({ bounds: { files: 3 } });
    expect(await checkpoints.before('a')).toContain('more than 3 files');
    expect(await checkpoints.before('b')).toBeUndefined();
    expect(await checkpoints.list()).toMatchObject({ checkpoints: [], off: expect.stringContaining('more than 3 files') as string });
    const off = makeWorkspace().open({ isOn: false });
    expect(await off.before('a')).toBeUndefined();
    expect(await off.list()).toMatchObject({ off: expect.stringContaining('SANDBOX_CHECKPOINTS') as string });
  });

  it('CK715: a workspace that has grown beyond the bounds is restored, and has checkpoints again', async () => {
    const { workspace, open } = makeWorkspace();
    fill(workspace);
    const before = pictureOf(workspace);
    const checkpoints = open({ bounds: { files: 20 } });
    await checkpoints.before('a');
    for (let file = 0; file < 30; file++) writeFileSync(join(workspace, `made-${file}`), 'much');
    writeFileSync(join(workspace, 'src/a.ts'), 'changed');
    expect(await checkpoints.before('b')).toContain('more than 20 files');
    expect(await checkpoints.restore(1, 'c')).toMatchObject({ left: [], isStored: false });
    expect(pictureOf(workspace)).toEqual(before);
    writeFileSync(join(workspace, 'src/a.ts'), 'again');
    expect(await checkpoints.before('d')).toBeUndefined();
    expect((await checkpoints.list()).checkpoints.map(({ key }) => key)).toEqual(['d', 'a']);
  });

  it('CK704: a file that is too large is left where it is, named, and the rest restored', async () => {
    const { workspace, open } = makeWorkspace();
    writeFileSync(join(workspace, 'large'), 'x'.repeat(2000));
    writeFileSync(join(workspace, 'small'), 'x');
    const checkpoints = open({ bounds: { fileBytes: 1000 } });
    await checkpoints.before('a');
    expect((await checkpoints.list()).left_out).toEqual(['large']);
    writeFileSync(join(workspace, 'large'), 'y'.repeat(3000));
    writeFileSync(join(workspace, 'added'), 'y'.repeat(3000));
    writeFileSync(join(workspace, 'small'), 'y');
    const { left } = await checkpoints.restore(1, 'b');
    expect(left).toEqual(['added']);
    expect(readFileSync(join(workspace, 'small'), 'utf8')).toBe('x');
    expect(readFileSync(join(workspace, 'large'), 'utf8')).toMatch(/^y/);
  });

  it('CK704: a file that has grown too large since is not replaced: what is in it is stored nowhere', async () => {
    const { workspace, open } = makeWorkspace();
    writeFileSync(join(workspace, 'grown'), 'x');
    const checkpoints = open({ bounds: { fileBytes: 1000 } });
    await checkpoints.before('a');
    writeFileSync(join(workspace, 'grown'), 'y'.repeat(3000));
    expect((await checkpoints.restore(1, 'b')).left).toEqual(['grown']);
    expect(readFileSync(join(workspace, 'grown'), 'utf8')).toMatch(/^y/);
  });

  it('CK710: a restore that failed is not taken up by the next executor', async () => {
    const { workspace, stateDir, open } = makeWorkspace();
    fill(workspace);
    const first = open();
    await first.before('a');
    writeFileSync(join(workspace, 'src/a.ts'), 'changed');
    first.close();
    const damaged = new DatabaseSync(join(stateDir, 'checkpoints.db'));
    damaged.exec("DELETE FROM object WHERE CAST(content AS TEXT) = 'export const a = 1;' || char(10)");
    damaged.close();
    const second = open();
    await expect(second.restore(1, 'b')).rejects.toThrow('a content of it is missing');
    second.close();
    writeFileSync(join(workspace, 'src/a.ts'), 'done since');
    const done: string[] = [];
    await open().finishRestore((key) => done.push(key));
    expect(done).toEqual([]);
    expect(readdirSync(stateDir)).not.toContain('restoring.json');
  });

  it('CK705: the oldest checkpoints are forgotten, with what only they needed', async () => {
    const { workspace, open } = makeWorkspace();
    const checkpoints = open({ bounds: { checkpoints: 3 } });
    for (let step = 1; step <= 6; step++) {
      writeFileSync(join(workspace, 'a'), `version ${step}`);
      await checkpoints.before(`key ${step}`);
    }
    expect((await checkpoints.list()).checkpoints.map(({ number }) => number)).toEqual([6, 5, 4]);
    await expect(checkpoints.restore(2, 'x')).rejects.toThrow('there is no checkpoint 2');
    await checkpoints.restore(4, 'y');
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('version 4');
  });

  it('CK705: a store that grows too large is cut to its newest checkpoints', async () => {
    const { workspace, open } = makeWorkspace();
    const checkpoints = open({ bounds: { bytes: 40_000 } });
    const { randomBytes } = await import('node:crypto');
    for (let step = 1; step <= 8; step++) {
      writeFileSync(join(workspace, 'a'), randomBytes(10_000));
      await checkpoints.before(`key ${step}`);
    }
    const numbers = (await checkpoints.list()).checkpoints.map(({ number }) => number);
    expect(numbers[0]).toBe(8);
    expect(numbers.length).toBeLessThanOrEqual(4);
  });

  it('CK951: what a path was at a checkpoint is given, and nothing outside the workspace', async () => {
    const { workspace, open } = makeWorkspace();
    fill(workspace);
    const checkpoints = open();
    await checkpoints.before('a');
    writeFileSync(join(workspace, 'src/a.ts'), 'other\nlines\n');
    const file = (path: string, maxBytes = 1000) => checkpoints.file(1, path, maxBytes);
    expect(await file('src/a.ts')).toEqual({ state: 'file', content: Buffer.from('export const a = 1;\n').toString('base64') });
    expect(await file('src/a.ts', 3)).toEqual({ state: 'too-large' });
    expect(await Promise.all([file('src'), file('nowhere/x'), file('src/a.ts/x')])).toMatchObject([
      { state: 'folder' },
      { state: 'absent' },
      { state: 'absent' },
    ]);
    for (const path of ['../x', '', '/etc/passwd', 'src/../../x', 'a\0b'])
      await expect(file(path)).rejects.toThrow('is not a path in the workspace');
    expect(await checkpoints.compare(1, { lines: true })).toEqual({
      count: 1,
      changes: [{ path: 'src/a.ts', change: 'changed', lines: { added: 2, removed: 1 }, content: expect.stringMatching(/^\w{16}$/) }],
    });
    await checkpoints.before('b');
    expect(await checkpoints.compare(1, { until: 2 })).toMatchObject({ count: 1 });
  });

  it('CK950: only the named paths go back, and their folders come and go with them', async () => {
    const { workspace, open } = makeWorkspace();
    fill(workspace);
    const checkpoints = open();
    const before = pictureOf(workspace);
    await checkpoints.before('a');
    rmSync(join(workspace, 'src'), { recursive: true, force: true });
    mkdirSync(join(workspace, 'new/deep'), { recursive: true });
    for (const path of ['new/deep/file', 'run.sh', 'stays']) writeFileSync(join(workspace, path), 'changed');
    expect(await checkpoints.restore(1, 'b', ['src/a.ts', 'new/deep/file'])).toMatchObject({ changed: 2, left: [], isStored: true });
    expect(readFileSync(join(workspace, 'src/a.ts'), 'utf8')).toBe('export const a = 1;\n');
    expect([existsSync(join(workspace, 'src/deep')), existsSync(join(workspace, 'new'))]).toEqual([false, false]);
    expect(readFileSync(join(workspace, 'run.sh'), 'utf8')).toBe('changed');
    await expect(checkpoints.restore(1, 'c', ['../x'])).rejects.toThrow('is not a path in the workspace');
    rmSync(join(workspace, 'stays'));
    await checkpoints.restore(1, 'd', ['src', 'run.sh']);
    expect(pictureOf(workspace)).toEqual(before);
  });

  it('CK706: folders that were closed to their owner are opened and restored', async () => {
    const { workspace, open } = makeWorkspace();
    fill(workspace);
    const before = pictureOf(workspace);
    const checkpoints = open();
    await checkpoints.before('a');
    chmodSync(join(workspace, 'src/deep'), 0o000);
    chmodSync(join(workspace, 'src'), 0o000);
    chmodSync(join(workspace, 'run.sh'), 0o000);
    expect((await checkpoints.restore(1, 'b')).left).toEqual([]);
    expect(pictureOf(workspace)).toEqual(before);
  });

  it('CK706: so is one that was closed long before, in a folder at rest', async () => {
    const { workspace, open } = makeWorkspace();
    fill(workspace);
    const before = pictureOf(workspace);
    const checkpoints = open();
    // Nothing is closed to root.
    const root = process.getuid?.() === 0;
    if (root) execFileSync('chown', ['-R', String(NOBODY), join(workspace, '..')]);
    if (root) process.seteuid?.(NOBODY);
    try {
      await checkpoints.before('a');
      const closed = join(workspace, 'src/deep');
      chmodSync(closed, 0o000);
      const { ctimeMs } = lstatSync(closed);
      await expect.poll(() => Date.now() - ctimeMs).toBeGreaterThan(200);
      for (const key of ['b', 'c']) await checkpoints.before(key);
      expect((await checkpoints.restore(1, 'd')).left).toEqual([]);
    } finally {
      if (root) process.seteuid?.(0);
    }
    expect(pictureOf(workspace)).toEqual(before);
  });

  it('CK707: another executor on the same store goes on with its numbers, and a damaged store is begun anew', async () => {
    const { workspace, stateDir, open } = makeWorkspace();
    fill(workspace);
    const first = open();
    await first.before('a');
    first.close();
    const second = open();
    await second.before('b');
    expect((await second.list()).checkpoints.map(({ key }) => key)).toEqual(['a']);
    second.close();
    writeFileSync(join(stateDir, 'checkpoints.db'), 'no database at all, and long enough to be looked at'.repeat(100));
    const third = open();
    expect(await third.before('c')).toBeUndefined();
    expect((await third.list()).checkpoints.map(({ key }) => key)).toEqual(['c']);
  });
});
