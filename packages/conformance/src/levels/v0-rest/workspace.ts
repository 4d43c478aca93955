import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import type { Target } from '../../target/target.ts';
import { hasStatus, hasTypes, isTexts } from '../shapes.ts';
import { bash, inShared, spoken } from '../v0-socketio/agent/talk.ts';

/** A conversation whose workspace got files from this command, which leaves the shell where it was; the start of its routes. */
async function withFiles(target: Target, command: string): Promise<string> {
  const { ready } = await spoken(target, [bash(`(${command})`)], await inShared(target));
  return `/api/conversations/${ready.id}`;
}

function form(files: Readonly<Record<string, string>>): FormData {
  const data = new FormData();
  for (const [name, text] of Object.entries(files)) data.append('files', new Blob([text]), name);
  return data;
}

export const workspace: readonly Check[] = [
  {
    id: 'v0-rest/list-files',
    title: '`list-files` is a flat list: folders first with `/`, below a path with it, without what is hidden',
    cites: ['SV26', 'S5'],
    shares: 'workspace',
    async run(target) {
      const base = await withFiles(
        target,
        'rm -rf conformance && mkdir -p conformance/sub conformance/node_modules && cd conformance && touch b.py a.py sub/c.py',
      );
      const answer = await target.ask('GET', `${base}/list-files?path=conformance`);
      hasStatus(answer, 200);
      isTexts(answer.body, 'files');
      assert.deepEqual(answer.body, ['conformance/sub/', 'conformance/a.py', 'conformance/b.py']);
      const root = await target.ask('GET', `${base}/list-files`);
      assert.ok((root.body as unknown as readonly string[]).includes('conformance/'), root.text.slice(0, 200));
    },
  },
  {
    id: 'v0-rest/select-file',
    title: '`select-file` gives the text as `code`; one that is not text is 415, one that is missing an error in words',
    cites: ['SV26'],
    shares: 'workspace',
    async run(target) {
      const base = await withFiles(
        target,
        "printf 'ä text\\n' > conformance.txt; head -c 300 /dev/zero | tr '\\0' '\\377' > conformance.bin",
      );
      const answer = await target.ask('GET', `${base}/select-file?file=conformance.txt`);
      hasStatus(answer, 200);
      assert.deepEqual(answer.body, { code: 'ä text\n' });
      const binary = await target.ask('GET', `${base}/select-file?file=conformance.bin`);
      hasStatus(binary, 415);
      hasTypes(binary.body, { error: 'string' }, 'answer');
      const missing = await target.ask('GET', `${base}/select-file?file=conformance.none`);
      hasStatus(missing, 404, 500);
      hasTypes(missing.body, { error: 'string' }, 'answer');
    },
  },
  {
    id: 'v0-rest/missing-file',
    title: 'a file that is missing is 404, not a fault of the server',
    cites: ['SV26'],
    shares: 'workspace',
    async run(target) {
      const base = await withFiles(target, 'true');
      hasStatus(await target.ask('GET', `${base}/select-file?file=conformance.none`), 404);
    },
  },
  {
    id: 'v0-rest/escape',
    title: 'no route reads or writes files of the host outside what the sandbox has',
    cites: ['SV26', 'SV27', 'SB17'],
    shares: 'workspace',
    async run(target) {
      const base = await withFiles(target, 'true');
      for (const file of ['../../../../../../etc/shadow', '/etc/shadow']) {
        const answer = await target.ask('GET', `${base}/select-file?file=${encodeURIComponent(file)}`);
        assert.ok(answer.status >= 400, `${file} is ${answer.status}`);
      }
    },
  },
  {
    id: 'v0-rest/upload',
    title: 'uploads are stored in the workspace and named by their full paths; the agent sees them',
    cites: ['SV27'],
    shares: 'workspace',
    async run(target) {
      const base = await withFiles(target, 'true');
      const answer = await target.ask('POST', `${base}/upload-files`, { body: form({ 'up.txt': 'up', 'load.txt': 'load' }) });
      hasStatus(answer, 200, 201);
      hasTypes(answer.body, { uploaded_files: 'array', skipped_files: 'array' }, 'answer');
      const uploaded = answer.body.uploaded_files as unknown as readonly string[];
      assert.deepEqual(
        uploaded.map((path) => path.split('/').at(-1)),
        ['up.txt', 'load.txt'],
      );
      assert.ok(
        uploaded.every((path) => path.startsWith('/')),
        uploaded.join(),
      );
      const read = await target.ask('GET', `${base}/select-file?file=up.txt`);
      assert.equal(read.body.code, 'up');
    },
  },
  {
    id: 'v0-rest/zip',
    title: '`zip-directory` is a zip archive, as an attachment',
    cites: ['SV28'],
    shares: 'workspace',
    async run(target) {
      const base = await withFiles(target, 'echo zipped > conformance.txt');
      const answer = await target.ask('GET', `${base}/zip-directory`);
      hasStatus(answer, 200);
      assert.match(answer.headers.get('content-type') ?? '', /zip/);
      assert.match(answer.headers.get('content-disposition') ?? '', /attachment/);
      assert.ok(answer.text.startsWith('PK'));
    },
  },
  {
    id: 'v0-rest/save-download',
    title: 'a file that changed since it was read is not overwritten by who says what it held; any file is downloaded byte by byte',
    cites: ['SV970', 'SV971'],
    needs: '/api/conversations/{id}/files/download',
    shares: 'workspace',
    async run(target) {
      const base = await withFiles(target, "printf 'now\\r\\n' > conformance.txt; printf '\\377\\000x' > conformance.bin");
      const save = (content: string, replaces?: string) =>
        target.ask('POST', `${base}/save-file`, { body: { filePath: 'conformance.txt', content, replaces } });
      const refused = await save('mine', 'before');
      hasStatus(refused, 409);
      hasTypes(refused.body, { error: 'string' }, 'answer');
      assert.equal((await target.ask('GET', `${base}/select-file?file=conformance.txt`)).body.code, 'now\r\n');
      hasStatus(await save('mine', 'now\r\n'), 200);
      assert.equal((await target.ask('GET', `${base}/select-file?file=conformance.txt`)).body.code, 'mine');
      const bytes = await target.ask('GET', `${base}/files/download?path=conformance.bin`);
      hasStatus(bytes, 200);
      assert.match(bytes.headers.get('content-disposition') ?? '', /^attachment/);
      assert.equal(bytes.headers.get('content-length'), '3');
      hasStatus(await target.ask('GET', `${base}/files/download?path=conformance.none`), 404);
    },
  },
  {
    id: 'v0-rest/git-changes',
    title: '`git/changes` and `git/diff` list what differs from the last commit',
    cites: ['SV29'],
    shares: 'workspace',
    async run(target) {
      const commit = 'git -c user.name=c -c user.email=c@example.com commit -qm c';
      const base = await withFiles(
        target,
        `git init -q . && echo one > a.py && git add a.py && ${commit} && echo two > a.py && echo new > b.py`,
      );
      const changes = await target.ask('GET', `${base}/git/changes`);
      hasStatus(changes, 200);
      const found = changes.body as unknown as readonly { status: string; path: string }[];
      assert.equal(found.find(({ path }) => path === 'a.py')?.status, 'M', changes.text);
      const diff = await target.ask('GET', `${base}/git/diff?path=a.py`);
      hasStatus(diff, 200);
      hasTypes(diff.body, { original: 'string', modified: 'string' }, 'diff');
      assert.match(String(diff.body.original), /one/);
      assert.match(String(diff.body.modified), /two/);
    },
  },
];
