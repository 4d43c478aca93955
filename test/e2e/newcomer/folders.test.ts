import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { itInFull, someOf } from '@tendon/testing';
import { builtTendon, type TendonProcess, Watcher, type WireEvent } from '@tendon/testing/servers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderOf, NEWCOMERS, serverOf, type Newcomer } from './newcomers.ts';

/** What `tendon` prints and how it ends when it is started with this environment. */
function tendon({ account }: Newcomer, args: readonly string[], env: NodeJS.ProcessEnv) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [builtTendon(), ...args], {
    ...account,
    cwd: '/',
    env: { PATH: process.env.PATH, PORT: '0', ...env },
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status, output: stdout + stderr };
}

async function observe(server: TendonProcess, action: string, args: Readonly<Record<string, unknown>>): Promise<WireEvent> {
  const { conversation_id: id } = await server.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(server.url, id);
  onTestFinished(() => watcher.close());
  await watcher.untilState('awaiting_user_input');
  watcher.send(action, args);
  return watcher.until(({ observation }) => observation === action || observation === 'error', `the observation of ${action}`);
}

describe.each(someOf(NEWCOMERS, NEWCOMERS.slice(-1)))('a newcomer who is $name', (newcomer) => {
  itInFull('SB17: works in a folder that holds TENDON_HOME, of which the agent sees nothing', async () => {
    const home = folderOf(newcomer);
    const own = join(home, '.tendon');
    writeFileSync(join(home, 'notes.txt'), 'theirs');
    const server = await serverOf(newcomer, { HOME: home, TENDON_HOME: own, WORKSPACE_BASE: home });
    await expect.poll(() => server.output).toContain(`${home} (more than a project: agents can read and change all of it)`);
    const { content, extras } = await observe(server, 'run', { command: 'cat notes.txt; ls -A .tendon; touch .tendon/x' });
    expect(content).toMatch(/^theirs[^]*Read-only file system$/);
    expect(content).not.toContain('tendon.db');
    expect(extras).toMatchObject({ metadata: { exit_code: 1 } });
    expect(readdirSync(own)).toContain('tendon.db');
  });

  it.each(someOf(['/', '/etc', '/usr/lib'], 1))('SV239: %s is refused as WORKSPACE_BASE with an explanation', (folder) => {
    const { status, output } = tendon(newcomer, ['serve'], { HOME: folderOf(newcomer), WORKSPACE_BASE: folder });
    expect({ status, output }).toEqual({
      status: 1,
      output: expect.stringMatching(/^WORKSPACE_BASE \S+ is a folder of the system: .*~\/projects\.$/m),
    });
  });

  it('SV240: a home that cannot be written names TENDON_HOME', () => {
    const home = folderOf(newcomer);
    // Root may write to every folder, but not below a file.
    const closed = newcomer.account.uid === 0 ? join(home, 'file') : join(home, 'closed');
    if (newcomer.account.uid === 0) writeFileSync(closed, '');
    else mkdirSync(closed, { mode: 0o555 });
    if (newcomer.account.uid !== 0 && process.getuid?.() === 0) chownSync(closed, newcomer.account.uid, newcomer.account.gid);
    for (const args of [['serve'], ['run', 'say hello'], ['executor']]) {
      const { status, output } = tendon(newcomer, args, { HOME: closed, WORKSPACE_BASE: home });
      expect({ args, status, output }).toEqual({
        args,
        status: 1,
        output: expect.stringMatching(/cannot be written: .*\. Set TENDON_HOME to a folder that can be written\.$/m),
      });
    }
  });

  itInFull('RT65: an edit that failed does not say that the file was edited', async () => {
    const server = await serverOf(newcomer, { WORKSPACE_BASE: folderOf(newcomer) });
    const args = { path: '/workspace/none.txt', command: 'str_replace', old_str: 'a', new_str: 'b' };
    const { content, ...event } = await observe(server, 'edit', args);
    expect(content).toMatch(/^ERROR:/);
    expect((event as { message?: string }).message).toBe('The file /workspace/none.txt was not edited.');
  });
});
