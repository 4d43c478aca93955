import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceChanges } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { socketIoClient, temporaryFolder, testServer } from '../server.test-support.ts';

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'init.defaultBranch=main', ...args], { cwd });
const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const SCRIPT = [
  bash('printf "one\\nTWO\\nthree\\n" > a.txt; rm gone.txt'),
  { text: 'first' },
  bash('echo true'),
  bash('printf "made\\n" > made.txt; git add -A; git commit -qm two'),
  { text: 'second' },
  { text: 'third' },
];

it(
  'SV950, SV951, SV952: what a shell changed is shown since the start, a turn, a checkpoint and a branch',
  { timeout: 120_000 },
  async () => {
    const base = temporaryFolder();
    mkdirSync(join(base, 'deep'));
    writeFileSync(join(base, 'a.txt'), 'one\ntwo\nthree\n');
    writeFileSync(join(base, 'gone.txt'), 'gone\n');
    writeFileSync(join(base, 'deep/é'), 'x');
    git(base, 'init', '-q');
    git(base, 'config', 'user.name', 't');
    git(base, 'config', 'user.email', 't@t');
    git(base, 'add', '.');
    git(base, 'commit', '-qm', 'one');
    git(base, 'switch', '-qc', 'work');
    const server = await testServer({ env: { WORKSPACE_BASE: base }, script: SCRIPT });
    const id = await server.create();
    const get = async (path: string) => {
      const answer = await server.get(`/api/conversations/${id}/changes${path}`);
      return [answer.status, await answer.json()] as const;
    };
    const changes = async (against: string) => {
      const [status, body] = await get(`?against=${against}`);
      expect([status, body]).toMatchObject([200, { state: 'compared' }]);
      return (body as WorkspaceChanges).files.map(({ path, status: of, added, removed }) => [of, path, added, removed]);
    };
    expect(await get('?wake=0')).toMatchObject([200, { state: 'suspended', files: [] }]);
    expect(await changes('start')).toEqual([]);

    const client = await socketIoClient(server, { conversation_id: id });
    await client.ask('first task');
    const first = [
      ['M', 'a.txt', 1, 1],
      ['D', 'gone.txt', 0, 1],
    ];
    for (const against of ['start', 'turn', 'published', 'branch:main', 'checkpoint:1'])
      expect([against, await changes(against)]).toEqual([against, first]);
    expect(await get('/file?path=a.txt&against=start')).toMatchObject([
      200,
      { original: 'one\ntwo\nthree\n', modified: 'one\nTWO\nthree\n', version: expect.stringMatching(/^[\w-]{43}$/) as string },
    ]);
    expect(await get('/file?path=gone.txt&against=published')).toMatchObject([
      200,
      { original: 'gone\n', modified: null, version: 'none' },
    ]);

    await client.ask('second task');
    const made = ['A', 'made.txt', 1, 0];
    expect(await changes('turn')).toEqual([made]);
    expect(await changes('start')).toEqual([...first, made]);
    expect(await changes('branch:main')).toEqual([...first, made]);
    expect(await changes('published')).toEqual([]);
    const [message] = client.frames.all.filter(({ action, source }) => action === 'message' && source === 'user').slice(1);
    expect(await changes(`event:0&until=${String(message!.id)}`)).toEqual(first);
    await client.ask('third task');
    expect(await changes('turn')).toEqual([]);

    expect(await get('?against=checkpoint:99')).toMatchObject([
      400,
      { message: expect.stringContaining('there is no checkpoint 99') as string },
    ]);
    expect(await get('?against=branch:nowhere')).toMatchObject([200, { count: 0 }]);
    for (const bad of ['branch:--upload-pack=x', 'branch:a..b', 'event:-1', 'HEAD', 'branch:a b']) {
      expect([bad, (await get(`?against=${encodeURIComponent(bad)}`))[0]]).toEqual([bad, 422]);
    }
    for (const bad of ['../etc/passwd', '/etc/passwd', 'a/../../b', '.'])
      expect([bad, (await get(`/file?path=${encodeURIComponent(bad)}`))[0]]).toEqual([bad, 400]);
    expect(await get('/file?path=deep/%C3%A9&against=branch:main')).toMatchObject([200, { original: 'x', modified: 'x' }]);
    expect((await get('/file?path=nowhere'))[0]).toBe(404);
  },
);
