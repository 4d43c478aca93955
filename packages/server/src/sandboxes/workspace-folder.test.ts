import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeWorkspaceBase, workspaceFolder } from './workspace-folder.ts';
import { workspaceRoots } from './workspace-roots.ts';

let top: string;
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), 'tendon-folder-')));
  await mkdir(join(top, 'base/inner'), { recursive: true });
  await mkdir(join(top, 'outside'));
  await mkdir(join(top, 'allowed'));
});

const rules = (more: { workspaceBase?: string | undefined } = {}) =>
  workspaceRoots({ home: join(top, 'home'), workspaceBase: join(top, 'base'), allowedDirs: [join(top, 'allowed')], ...more });
const ask = async (requested: string | undefined, more: { workspaceBase?: string | undefined } = {}) =>
  workspaceFolder(await rules(more), 'c1', requested);

describe('SV1: WORKSPACE_BASE', () => {
  it('is made when it is not there, and named when it cannot be', async () => {
    await makeWorkspaceBase({ workspaceBase: join(top, 'new/base') });
    expect((await stat(join(top, 'new/base'))).isDirectory()).toBe(true);
    await writeFile(join(top, 'file'), '');
    await expect(makeWorkspaceBase({ workspaceBase: join(top, 'file') })).rejects.toThrow(
      `WORKSPACE_BASE ${join(top, 'file')} cannot be used`,
    );
  });
});

describe('SV7: the folder of a conversation', () => {
  it('is the base by default, and a folder of its own without a base', async () => {
    expect(await ask(undefined)).toEqual({ ok: true, path: join(top, 'base') });
    expect(await ask(undefined, { workspaceBase: undefined })).toEqual({ ok: true, path: join(top, 'home/workspaces/c1') });
  });

  it.each([
    ['inner', 'base/inner'],
    ['./inner', 'base/inner'],
    ['new/deep', 'base/new/deep'],
    ['/workspace', 'base'],
    ['/workspace/inner', 'base/inner'],
    ['BASE/inner', 'base/inner'],
    ['ALLOWED', 'allowed'],
    ['ALLOWED/new', 'allowed/new'],
  ])('%s is granted', async (requested, path) => {
    const asked = requested.replace('BASE', join(top, 'base')).replace('ALLOWED', join(top, 'allowed'));
    expect(await ask(asked)).toEqual({ ok: true, path: join(top, path) });
  });

  it.each(['/', '/etc', '..', '../outside', 'inner/../../outside', '/workspace/../outside', '/workspacex', 'a\0b'])(
    '%j is refused',
    async (requested) => {
      expect(await ask(requested)).toMatchObject({ ok: false, error: { code: 'DIRECTORY_NOT_ALLOWED' } });
    },
  );

  it('links lead nowhere else, and nothing is made behind them', async () => {
    await symlink(join(top, 'outside'), join(top, 'base/link'));
    await symlink(join(top, 'nowhere'), join(top, 'base/dangling'));
    await symlink(join(top, 'base/inner'), join(top, 'base/friendly'));
    for (const requested of ['link', 'link/new', 'dangling', 'dangling/new']) expect(await ask(requested)).toMatchObject({ ok: false });
    await expect(stat(join(top, 'outside/new'))).rejects.toThrow('ENOENT');
    await expect(stat(join(top, 'nowhere'))).rejects.toThrow('ENOENT');
    expect(await ask('friendly')).toEqual({ ok: true, path: join(top, 'base/inner') });
  });

  it('SV340: what prevents its creation is reported as it is', async () => {
    await writeFile(join(top, 'base/file'), '');
    const reason = { ok: false, error: { code: 'FOLDER_NOT_USABLE', message: expect.stringContaining('what is there is no folder') } };
    for (const requested of ['file', 'file/below']) expect(await ask(requested)).toMatchObject(reason);
    expect(await ask(undefined, { workspaceBase: join(top, 'base/file') })).toMatchObject(reason);
  });

  it('SV340: a full disk says so, and not that the folder is outside', async () => {
    const program = `
      import { workspaceFolder } from ${JSON.stringify(new URL('workspace-folder.ts', import.meta.url).href)};
      import { workspaceRoots } from ${JSON.stringify(new URL('workspace-roots.ts', import.meta.url).href)};
      const full = process.argv[1];
      const inBase = await workspaceRoots({ home: '/nowhere', workspaceBase: full, allowedDirs: [] });
      const own = await workspaceRoots({ home: full, allowedDirs: [] });
      console.log(JSON.stringify([await workspaceFolder(inBase, 'c1', 'new'), await workspaceFolder(own, 'c1')]));`;
    const script = 'mount -t tmpfs -o nr_inodes=1 none "$1" && exec "$2" --conditions=tendon-source --input-type=module -e "$3" "$1"';
    const inside = ['--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', join(top, 'base'), process.execPath, program];
    const { stdout } = await promisify(execFile)('unshare', inside);
    const full = { ok: false, error: { code: 'STORAGE_FAILED', message: expect.stringContaining('no space left on device') } };
    expect(JSON.parse(stdout)).toMatchObject([full, full]);
  });

  it('the refusal names the way to allow it', async () => {
    const folder = await ask('/etc');
    expect(folder.ok ? '' : folder.error.message).toContain('TENDON_ALLOWED_DIRS');
  });
});
