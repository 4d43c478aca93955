import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { socketIoClient, temporaryFolder, testServer } from '../server.test-support.ts';
import { place } from './workspace-place.test-support.ts';

const DEADLINE = { timeout: 60_000, interval: 20 };

describe('SV29: git', () => {
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'init.defaultBranch=main', ...args], { cwd });

  it('changes are those since the last commit, of nested repositories too', async () => {
    const { get, put, base } = await place();
    expect(await get('/git/changes')).toEqual([200, []]);
    git(base, 'init', '-q');
    for (const path of ['unchanged', 'changed', 'deleted', 'old name', 'dir/é']) put(path, `${path}\n`.repeat(5));
    git(base, 'add', '.');
    git(base, 'commit', '-qm', 'one');
    put('changed', 'new\n');
    put('dir/new', 'x');
    git(base, 'rm', '-q', 'deleted');
    git(base, 'mv', 'old name', 'new name');
    mkdirSync(join(base, 'inner'));
    git(join(base, 'inner'), 'init', '-q');
    put('inner/file', 'x');
    expect(await get('/git/changes')).toEqual([
      200,
      [
        { status: 'M', path: 'changed' },
        { status: 'D', path: 'deleted' },
        { status: 'A', path: 'dir/new' },
        { status: 'A', path: 'inner/file' },
        { status: 'A', path: 'new name' },
        { status: 'D', path: 'old name' },
      ],
    ]);
    expect(await get('/git/diff?path=changed')).toEqual([200, { original: 'changed\n'.repeat(5), modified: 'new\n' }]);
    expect(await get('/git/diff?path=/workspace/dir/new')).toEqual([200, { original: '', modified: 'x' }]);
    expect(await get('/git/diff?path=deleted')).toEqual([200, { original: 'deleted\n'.repeat(5), modified: '' }]);
    expect(await get(`/git/diff?path=${encodeURIComponent("gone/'; touch hacked; '")}`)).toMatchObject([404, {}]);
    expect((await get('/list-files'))[1]).not.toContain('hacked');
  });

  it('SV231: are answered when the running command has ended, to no client that has left, and other conversations do not wait', async () => {
    const base = temporaryFolder();
    const command = 'until [ -e go ]; do sleep 0.05; done; echo made > made.txt';
    const script = [{ toolCalls: [{ name: 'execute_bash', arguments: { command } }] }, { text: 'done' }];
    const server = await testServer({ env: { WORKSPACE_BASE: base }, script });
    git(base, 'init', '-q');
    const [id, other] = [await server.create(), await server.create()];
    const changes = (of: string, signal?: AbortSignal) =>
      fetch(`${server.url}/api/conversations/${of}/git/changes`, { ...(signal && { signal }) }).then((answer) => answer.json());
    const client = await socketIoClient(server, { conversation_id: id });
    client.send({ action: 'message', args: { content: 'go' } });
    await client.frames.until((frame) => frame.action === 'run');
    const leaving = new AbortController();
    const left = changes(id, leaving.signal).catch(() => 'left');
    const held = changes(id);
    await expect.poll(() => server.engine.conversations.connections(id), DEADLINE).toBe(3);
    leaving.abort();
    expect(await left).toBe('left');
    await expect.poll(() => server.engine.conversations.connections(id), DEADLINE).toBe(2);
    expect(await changes(other)).toEqual([]);
    expect(await Promise.race([held, 'still held'])).toBe('still held');
    writeFileSync(join(base, 'go'), '');
    expect(await held).toContainEqual({ status: 'A', path: 'made.txt' });
  });

  it('SV155: a conversation with a repository names its files by their paths in it', async () => {
    const { server, base, put } = await place();
    const id = await server.create({ repository: 'owner/demo' });
    const get = async (path: string) => (await server.get(`/api/conversations/${id}${path}`)).json();
    for (const folder of ['demo', 'beside']) {
      mkdirSync(join(base, folder));
      git(join(base, folder), 'init', '-q');
      put(`${folder}/src/file`, folder);
    }
    expect(await get('/git/changes')).toEqual([
      { status: 'A', path: 'beside/src/file' },
      { status: 'A', path: 'src/file' },
    ]);
    expect(await get('/git/diff?path=src/file')).toEqual({ original: '', modified: 'demo' });
    expect(await get('/git/diff?path=demo/src/file')).toEqual({ original: '', modified: 'demo' });
    expect(await get('/git/diff?path=beside/src/file')).toEqual({ original: '', modified: 'beside' });
  });

  it('changes count from what was published', async () => {
    const { get, put, base } = await place();
    const remote = temporaryFolder();
    git(remote, 'init', '-q', '--bare');
    git(base, 'init', '-q');
    put('a', '1');
    git(base, 'add', '.');
    git(base, 'commit', '-qm', 'one');
    git(base, 'push', '-q', remote, 'HEAD:refs/heads/main');
    git(base, 'remote', 'add', 'origin', remote);
    git(base, 'fetch', '-q', 'origin');
    put('a', '2');
    git(base, 'commit', '-qam', 'two');
    expect(await get('/git/changes')).toEqual([200, [{ status: 'M', path: 'a' }]]);
    expect(await get('/git/diff?path=a')).toEqual([200, { original: '1', modified: '2' }]);
  });

  it('without a repository there is nothing to compare with', async () => {
    const { get, put } = await place();
    put('a', 'x');
    expect(await get('/git/diff?path=a')).toMatchObject([404, { error: 'Not a git repository' }]);
  });
});
