import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { temporaryFolder } from '../server.test-support.ts';
import { place } from './workspace-place.test-support.ts';

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

  it('are read as text, and reported as binary', async () => {
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

  it('SV970: are saved, and not over a text that nobody has seen', async () => {
    const { server, url, base } = await place();
    expect(await (await server.post(`${url}/save-file`, { filePath: 'new/a.txt', content: 'hi' })).json()).toEqual({
      message: 'File saved successfully',
    });
    expect(readFileSync(join(base, 'new/a.txt'), 'utf8')).toBe('hi');
    expect((await server.post(`${url}/save-file`, { filePath: 'new', content: 'x' })).status).toBe(400);
    const replace = async (filePath: string, replaces: string) =>
      (await server.post(`${url}/save-file`, { filePath, content: 'mine', replaces })).status;
    expect([await replace('new/a.txt', 'other'), await replace('gone.txt', 'x'), await replace('new/a.txt', 'hi')]).toEqual([
      409, 409, 200,
    ]);
    expect([readFileSync(join(base, 'new/a.txt'), 'utf8'), existsSync(join(base, 'gone.txt'))]).toEqual(['mine', false]);
    // Of many at once that have read the same, one is not overwritten by the others.
    const big = 'x'.repeat(1_000_000);
    writeFileSync(join(base, 'big.txt'), big);
    const texts = Array.from({ length: 6 }, (_, index) => `text ${index}`);
    const answers = await Promise.all(
      texts.map(async (content) => (await server.post(`${url}/save-file`, { filePath: 'big.txt', content, replaces: big })).status),
    );
    expect(answers.toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(readFileSync(join(base, 'big.txt'), 'utf8')).toBe(texts[answers.indexOf(200)]);
  });

  it('SV971: are downloaded with their bytes and name, and never as a page', async () => {
    const { server, url, base } = await place();
    writeFileSync(join(base, 'é "a".html'), Buffer.from([0, 255]));
    const file = await server.get(`${url}/files/download?path=${encodeURIComponent('é "a".html')}`);
    expect([...new Uint8Array(await file.arrayBuffer())]).toEqual([0, 255]);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="___a_.html"; filename*=UTF-8''%C3%A9%20%22a%22.html`,
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
    });
    expect((await server.get(`${url}/files/download?path=none`)).status).toBe(404);
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
  itInFull('has the files as they are, and neither links nor names that lead out', async () => {
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
    const folder = await server.get(`${url}/zip-directory?path=src`);
    expect([folder.headers.get('content-disposition'), (await folder.text()).includes('a.py')]).toEqual([
      'attachment; filename="src.zip"',
      true,
    ]);
  });

  it('of an unknown conversation is not there', async () => {
    const { server } = await place();
    const unknown = `/api/conversations/${'0'.repeat(32)}`;
    for (const path of ['zip-directory', 'list-files', 'select-file?file=x', 'files/tree', 'git/changes', 'git/diff?path=x']) {
      expect([path, (await server.get(`${unknown}/${path}`)).status]).toEqual([path, 404]);
    }
  });
});
