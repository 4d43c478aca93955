/**
 * The store is put back from a backup while the executor of what came after it still lives, and its ids are given again: no command is
 * answered with what another one printed, and nothing of the sandbox of before is gone on with.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { someOf } from '@tendon/testing';
import { builtTendon, ExecutorHostProcess, TendonProcess, Watcher, type WireEvent } from '@tendon/testing/servers';

const HERE = 'on this machine';

it.each(someOf([HERE, 'on an executor host'], [HERE]))(
  'EN165, SB167, TJ22: after a restore every new command is run, and answered with its own outcome, with sandboxes %s',
  { timeout: 120_000 },
  (where) => expectOwnOutcomes(where),
);

async function expectOwnOutcomes(where: string): Promise<void> {
  const host = where === HERE ? undefined : await ExecutorHostProcess.start({ ownWorkspaces: true });
  if (host) onTestFinished(() => host.remove());
  const tendon = await TendonProcess.start(host?.serverEnvironment);
  const backup = `${tendon.home}-backup`;
  onTestFinished(async () => {
    await tendon.remove();
    rmSync(backup, { recursive: true, force: true });
  });
  const cli = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [builtTendon(), ...args], {
      env: { PATH: process.env.PATH, HOME: tendon.home, TENDON_HOME: tendon.home },
      encoding: 'utf8',
    });
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const ran = async (command: string): Promise<WireEvent> => {
    const watcher = new Watcher(tendon.url, id);
    await watcher.untilState('awaiting_user_input');
    watcher.send('run', { command });
    const seen = await watcher.until((event) => event.cause !== undefined && event.cause > before && event.observation !== 'null');
    before = seen.id;
    watcher.close();
    return seen;
  };
  let before = -1;
  await ran('echo before the backup');
  await tendon.kill('SIGKILL');
  cli('backup', backup);
  const atBackup = before;

  await tendon.start();
  const old = await ran('echo 0 tests failed; export STORED=yes; touch ~/home-of-before');
  expect(old.content).toContain('0 tests failed');
  await tendon.kill('SIGKILL');
  const aside = /before is in (.*)\.$/m.exec(cli('restore', backup, '--force'))?.[1] ?? '';
  onTestFinished(() => rmSync(aside, { recursive: true, force: true }));
  expect(existsSync(join(aside, 'sandboxes'))).toBe(where === HERE);

  before = atBackup;
  await tendon.start();
  const fresh = await ran('touch proof; echo 7 tests failed, "<$STORED>", $(ls ~)');
  expect(fresh.cause).toBe(old.cause);
  expect(fresh.content?.trim()).toBe('7 tests failed, <>,');
  expect(JSON.stringify(fresh)).toContain('restored from a backup');
  expect((await ran('ls')).content?.trim()).toBe('proof');
}
