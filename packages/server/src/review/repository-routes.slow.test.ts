import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileVersions, RepositoryAnswer, RevertedChange } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { fakeGitHub, GITHUB_TOKEN } from '../git-providers/apis/fake-github.test-support.ts';
import { socketIoClient, temporaryFolder, testServer } from '../server.test-support.ts';

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'init.defaultBranch=main', ...args], { cwd, encoding: 'utf8' });
const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const SCRIPT = [
  bash('printf "1\\nTWO\\n3\\n4\\n5\\n6\\n7\\n8\\nNINE\\n" > a.txt; rm tool.sh; echo new > new.txt'),
  { text: 'done' },
  { text: 'and again' },
];
const BEFORE = '1\n2\n3\n4\n5\n6\n7\n8\n9\n';

it(
  'SV953, SV954, SV955: changes are reverted and taken back, committed on a branch, and become a pull request',
  { timeout: 120_000 },
  async () => {
    const [base, remote] = [temporaryFolder(), temporaryFolder()];
    const fake = await fakeGitHub();
    git(remote, 'init', '-q', '--bare');
    git(base, 'init', '-q');
    writeFileSync(join(base, 'a.txt'), BEFORE);
    writeFileSync(join(base, 'tool.sh'), '#!/bin/sh\n');
    chmodSync(join(base, 'tool.sh'), 0o755);
    git(base, 'config', 'user.name', 'Ann');
    git(base, 'config', 'user.email', 'ann@example.com');
    mkdirSync(join(base, '-'));
    writeFileSync(join(base, '-/same.txt'), 'same\n');
    git(base, 'add', '.');
    git(base, 'commit', '-qm', 'one');
    // Git goes to the local one, and the address says where the provider is.
    git(base, 'config', `url.${remote}.insteadOf`, `${fake.origin}/ann/tools.git`);
    git(base, 'remote', 'add', 'origin', `${fake.origin}/ann/tools.git`);
    git(base, 'push', '-q', '-u', 'origin', 'main');
    const server = await testServer({ env: { WORKSPACE_BASE: base }, script: SCRIPT });
    await server.post('/api/add-git-providers', { provider_tokens: { github: { token: GITHUB_TOKEN, host: fake.origin } } });
    const id = await server.create();
    const url = `/api/conversations/${id}`;
    const client = await socketIoClient(server, { conversation_id: id });
    await client.ask('do it');
    const text = (path: string) => readFileSync(join(base, path), 'utf8');
    const post = async <T>(path: string, body: unknown) => {
      const answer = await server.post(`${url}${path}`, body);
      return [answer.status, (await answer.json()) as T] as const;
    };
    const undo = async ([status, { undo: to }]: readonly [number, RevertedChange]) => {
      expect(status).toBe(200);
      const { checkpoint, paths } = to!;
      expect((await server.post(`${url}/checkpoints/${checkpoint}/restore`, { what: 'files', paths })).status).toBe(200);
    };

    // One hunk, and back again.
    const seen = (await (await server.get(`${url}/changes/file?path=a.txt`)).json()) as FileVersions;
    const hunk = { old: { start: 2, count: 1 }, new: { start: 2, count: 1 } };
    const reverted = await post<RevertedChange>('/changes/revert', { path: 'a.txt', against: 'start', version: seen.version, hunk });
    expect(text('a.txt')).toBe('1\n2\n3\n4\n5\n6\n7\n8\nNINE\n');
    expect((await post('/changes/revert', { path: 'a.txt', against: 'start', version: seen.version, hunk }))[0]).toBe(409);
    await undo(reverted);
    expect(text('a.txt')).toBe(seen.modified);

    // Whole files: against a checkpoint and against what is published; deleted, changed and new.
    const deleted = await post<RevertedChange>('/changes/revert', { path: 'tool.sh', against: 'start' });
    expect(statSync(join(base, 'tool.sh')).mode & 0o111).toBe(0o111);
    await undo(deleted);
    expect(existsSync(join(base, 'tool.sh'))).toBe(false);
    await post('/changes/revert', { path: 'tool.sh', against: 'published' });
    expect(statSync(join(base, 'tool.sh')).mode & 0o111).toBe(0o111);
    const gone = await post<RevertedChange>('/changes/revert', { path: 'new.txt', against: 'published' });
    expect(existsSync(join(base, 'new.txt'))).toBe(false);
    await undo(gone);
    expect(text('new.txt')).toBe('new\n');
    // Where `cd` would go back to another folder.
    const dash = await server.get(`${url}/changes/file?path=${encodeURIComponent('-/same.txt')}&against=published`);
    expect(await dash.json()).toMatchObject({ original: 'same\n', modified: 'same\n' });
    expect((await post('/changes/revert', { path: '../x', against: 'start' }))[0]).toBe(400);
    expect((await post('/changes/revert', { path: 'nowhere', against: 'start' }))[0]).toBe(404);

    // A branch, a commit of what was seen, and the pull request.
    const state = async () => ((await (await server.get(`${url}/changes/repository`)).json()) as RepositoryAnswer).repository;
    expect(await state()).toMatchObject({ branch: 'main', remote: { provider: 'github', repository: 'ann/tools', has_token: true } });
    expect(await post('/changes/branch', { name: "fix/it's" })).toMatchObject([200, { exit_code: 0 }]);
    expect(await post('/changes/commit', { message: "mend $(touch hacked) it's", paths: ['a.txt'] })).toMatchObject([
      200,
      { exit_code: 0 },
    ]);
    expect(git(base, 'log', '-1', '--format=%s|%an', '--name-only').trim()).toBe("mend $(touch hacked) it's|Ann\n\na.txt");
    expect(existsSync(join(base, 'hacked'))).toBe(false);
    expect(await state()).toMatchObject({ branch: "fix/it's", uncommitted: { count: 1, paths: ['new.txt'] } });
    const pull = { repository: 'ann/tools', target: 'main', title: 'Mend it', body: 'Why.' };
    expect((await post('/changes/pull-request', { ...pull, repository: 'eve/tools' }))[0]).toBe(400);
    expect(await post('/changes/pull-request', pull)).toMatchObject([200, { url: 'https://github.example/ann/tools/pull/11' }]);
    expect(git(remote, 'log', '-1', '--format=%s', "fix/it's").trim()).toBe("mend $(touch hacked) it's");
    expect(JSON.parse(fake.bodies.at(-1)!)).toMatchObject({ head: "fix/it's", base: 'main', title: 'Mend it' });
    // All of it was the user's, and is in the log.
    const commands = client.frames.all.filter(({ action, source }) => action === 'run' && source === 'user');
    expect(
      commands.map(({ args }) =>
        String((args as { command: string }).command)
          .split(' ')
          .slice(0, 2)
          .join(' '),
      ),
    ).toEqual(['git --literal-pathspecs', 'rm -f', 'git switch', 'git --literal-pathspecs', 'git push']);
  },
);
