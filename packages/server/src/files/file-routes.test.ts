import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SLOW } from '@tendon/testing';
import { describe, expect, it, vi } from 'vitest';
import { socketIoClient, temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';

vi.setConfig({ testTimeout: SLOW.sandbox });

const DEADLINE = { timeout: 60_000, interval: 20 };

interface Place {
  readonly server: TestServer;
  readonly base: string;
  get(path: string): Promise<readonly [number, unknown]>;
  put(path: string, text: string): void;
}

/** A conversation that works in a folder of this machine. */
async function place(): Promise<Place & { readonly url: string }> {
  const base = temporaryFolder();
  const server = await testServer({ env: { WORKSPACE_BASE: base } });
  const url = `/api/conversations/${await server.create()}`;
  return {
    server,
    base,
    url,
    async get(path) {
      const response = await server.get(url + path);
      return [response.status, await response.json()];
    },
    put(path, text) {
      mkdirSync(join(base, path, '..'), { recursive: true });
      writeFileSync(join(base, path), text);
    },
  };
}

function form(files: readonly (readonly [string, string])[]): FormData {
  const body = new FormData();
  for (const [name, text] of files) body.append('files', new Blob([text]), name);
  return body;
}

describe('SV26: files of a workspace', () => {
  it('are listed folders first, without what is hidden and what .gitignore names', async () => {
    const { get, put } = await place();
    for (const path of ['b.txt', 'a.txt', 'src/main.py', 'src/x.log', '.git/HEAD', 'node_modules/x.js', 'build/out', 'debug.log'])
      put(path, 'x');
    put('.gitignore', '*.log\nbuild/\n');
    expect(await get('/list-files')).toEqual([200, ['src/', '.gitignore', 'a.txt', 'b.txt']]);
    for (const root of ['', '.', '/workspace', '/workspace/']) expect((await get(`/list-files?path=${root}`))[1]).toContain('a.txt');
    expect(await get('/list-files?path=src')).toEqual([200, ['src/main.py']]);
    expect(await get('/list-files?path=/workspace/src/')).toEqual([200, ['/workspace/src/main.py']]);
    expect((await get('/list-files?path=none'))[0]).toBe(404);
    expect((await get('/list-files?path=a%00b'))[0]).toBe(422);
  });

  it('a .gitignore made to be slow is not', async () => {
    const { get, put } = await place();
    put('a'.repeat(200), 'x');
    put('.gitignore', `${'*a'.repeat(60)}b\n[\n\\\n!\n${'x'.repeat(5_000)}\nkeep\n`);
    put('keep', 'x');
    expect((await get('/list-files'))[1]).toEqual(['.gitignore', 'a'.repeat(200)]);
  });

  it('are read as text, and said not to be', async () => {
    const { get, put, base } = await place();
    put('src/a.py', 'print("é")\n');
    writeFileSync(join(base, 'bin'), Buffer.from([1, 0, 2]));
    expect(await get('/select-file?file=src/a.py')).toEqual([200, { code: 'print("é")\n' }]);
    expect(await get('/select-file?file=/workspace/src/a.py')).toEqual([200, { code: 'print("é")\n' }]);
    expect(await get('/files/content?path=src/a.py')).toEqual([200, { code: 'print("é")\n' }]);
    expect(await get('/select-file?file=bin')).toMatchObject([415, { error: 'Unable to open binary file: bin' }]);
    expect(await get('/select-file?file=none')).toMatchObject([404, { error: expect.stringMatching(/^Error opening file: /) as string }]);
    expect((await get('/select-file?file=src'))[0]).toBe(400);
    expect((await get('/select-file'))[0]).toBe(422);
  });

  it('are shown as a tree, links as they are', async () => {
    const { get, put, base } = await place();
    put('src/a.py', '12345');
    put('.git/HEAD', 'x');
    symlinkSync('/etc', join(base, 'out'));
    const [status, tree] = await get('/files/tree');
    expect(status).toBe(200);
    expect(tree).toMatchObject({
      type: 'directory',
      children: [
        { name: 'src', type: 'directory', children: [{ name: 'a.py', type: 'file', size: 5 }] },
        { name: 'out', type: 'file' },
      ],
    });
    expect(await get('/files/tree?path=src')).toMatchObject([200, { name: 'src', children: [{ name: 'a.py' }] }]);
    expect(await get('/files/tree?depth=1')).toMatchObject([200, { children: [{ name: 'src', children: [] }, {}] }]);
    expect((await get('/files/tree?path=none'))[0]).toBe(404);
  });

  it('SV313: a tree has 20,000 entries, and says that there are more', async () => {
    const { server, url, base } = await place();
    for (let n = 0; n < 20_001; n++) writeFileSync(join(base, `f${n}`), '');
    const response = await server.get(`${url}/files/tree`);
    expect(response.headers.get('x-tendon-truncated')).toBe('true');
    expect(((await response.json()) as { children: unknown[] }).children).toHaveLength(20_000);
  });

  it('are saved', async () => {
    const { server, url, base } = await place();
    expect(await (await server.post(`${url}/save-file`, { filePath: 'new/a.txt', content: 'hi' })).json()).toEqual({
      message: 'File saved successfully',
    });
    expect(readFileSync(join(base, 'new/a.txt'), 'utf8')).toBe('hi');
    expect((await server.post(`${url}/save-file`, { filePath: 'new', content: 'x' })).status).toBe(400);
    expect((await server.post(`${url}/save-file`, { filePath: '' })).status).toBe(422);
  });
});

describe('SV27: uploads', () => {
  it('what can be taken is, the rest is skipped with a reason', async () => {
    const { server, url, base } = await place();
    mkdirSync(join(base, 'folder'));
    const files = [
      ['a.txt', 'one'],
      ['sub/b.txt', 'two'],
      ['../x', 'out'],
      ['a/../../y', 'out'],
      ['/etc/x', 'out'],
      ['c\\..\\d', 'out'],
      ['n'.repeat(300), 'long'],
      ['folder', 'is one'],
    ] as const;
    const response = await fetch(server.url + url + '/upload-files', { method: 'POST', body: form(files) });
    const answer = (await response.json()) as { uploaded_files: string[]; skipped_files: { name: string; reason: string }[] };
    expect(response.status).toBe(200);
    expect(answer.uploaded_files).toEqual([`${base}/a.txt`, `${base}/sub/b.txt`]);
    expect(answer.skipped_files.map(({ name }) => name)).toEqual(['../x', 'a/../../y', '/etc/x', 'c\\..\\d', 'n'.repeat(300), 'folder']);
    expect(answer.skipped_files.every(({ reason }) => reason.length > 0)).toBe(true);
    expect(readFileSync(join(base, 'sub/b.txt'), 'utf8')).toBe('two');
  });

  it('what is no upload is refused', async () => {
    const { server, url } = await place();
    const post = (type: string, body: string) =>
      fetch(server.url + url + '/upload-files', { method: 'POST', headers: { 'content-type': type }, body }).then(({ status }) => status);
    expect(await post('application/json', '{}')).toBe(400);
    expect(await post('multipart/form-data', 'x')).toBe(400);
    expect(await post('multipart/form-data; boundary=x', 'no parts')).toBe(400);
    expect(await post('multipart/form-data; boundary=x', '--x--\r\n')).toBe(400);
    expect(
      await post('multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="files"; filename="a"\r\n\r\ncut'),
    ).toBe(400);
    expect((await server.get('/alive')).status).toBe(200);
  });
});

describe('SV28: the zip', () => {
  it('has the files as they are, and neither links nor names that lead out', async () => {
    const { server, url, put, base } = await place();
    put('src/a.py', 'print(1)\n');
    put('name with\nline.txt', 'x');
    put('evil\\..\\..\\x', 'x');
    mkdirSync(join(base, 'empty'));
    symlinkSync('/etc/passwd', join(base, 'passwd'));
    symlinkSync('/etc', join(base, 'etc'));
    symlinkSync('.', join(base, 'loop'));
    const response = await server.get(`${url}/zip-directory`);
    expect([response.status, response.headers.get('content-type'), response.headers.get('content-disposition')]).toEqual([
      200,
      'application/zip',
      'attachment; filename="workspace.zip"',
    ]);
    const out = temporaryFolder();
    writeFileSync(join(out, 'w.zip'), Buffer.from(await response.arrayBuffer()));
    const names = execFileSync('python3', [
      '-c',
      'import sys,zipfile,json; z=zipfile.ZipFile(sys.argv[1]); print(json.dumps([z.testzip(), z.namelist()]))',
      join(out, 'w.zip'),
    ]);
    const [broken, list] = JSON.parse(names.toString()) as [null, string[]];
    expect(broken).toBeNull();
    expect(list.toSorted()).toEqual(['empty/', 'name with\nline.txt', 'src/', 'src/a.py']);
  });

  it('of an unknown conversation is not there', async () => {
    const { server } = await place();
    const unknown = `/api/conversations/${'0'.repeat(32)}`;
    for (const path of ['zip-directory', 'list-files', 'select-file?file=x', 'files/tree', 'git/changes', 'git/diff?path=x']) {
      expect([path, (await server.get(`${unknown}/${path}`)).status]).toEqual([path, 404]);
    }
  });
});

describe('SV29: git', () => {
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'init.defaultBranch=main', ...args], { cwd });

  it('changes are those since the last commit, of nested repositories too', async () => {
    const { get, put, base } = await place();
    expect(await get('/git/changes')).toEqual([200, []]);
    git(base, 'init', '-q');
    for (const path of ['kept', 'changed', 'deleted', 'old name', 'dir/é']) put(path, `${path}\n`.repeat(5));
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
