import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { someOf } from '@tendon/testing';
import { type TendonProcess, Watcher } from '@tendon/testing/servers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderOf, NEWCOMERS, serverOf, type Newcomer } from './newcomers.ts';

/** The server's files may not grow beyond `bytes`: the kernel then refuses its writes as a full disk does, and nobody else's. */
function limitFiles(server: TendonProcess, bytes: number | 'unlimited', { account }: Newcomer): void {
  execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}:unlimited`], account);
}

const step = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });

describe.each(someOf(NEWCOMERS, NEWCOMERS.slice(-1)))('the disk of a newcomer who is $name', (newcomer) => {
  it('EN229: fills up during a run: clients are notified, and the run continues by itself when there is space, nothing twice', async () => {
    const workspace = folderOf(newcomer);
    // The command ends when its gate opens, so that its outcome falls due while the disk is full.
    const script = [step('echo once >> counted; until [ -e gate ]; do sleep 0.05; done; echo done'), { text: 'All done.' }];
    const server = await serverOf(newcomer, { WORKSPACE_BASE: workspace }, script);
    const { conversation_id: id } = await server.json<{ conversation_id: string }>('/api/conversations', {});
    const watcher = new Watcher(server.url, id);
    onTestFinished(() => watcher.close());
    await watcher.untilState('awaiting_user_input');
    watcher.send('message', { content: 'count' });
    await watcher.until(({ action, source }) => action === 'run' && source === 'agent');

    limitFiles(server, statSync(join(server.home, 'tendon.db-wal')).size, newcomer);
    const refused = await fetch(`${server.url}/api/conversations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(refused.status).toBe(507);
    expect(await refused.json()).toMatchObject({ message: expect.stringMatching(/^The server cannot store this: .* make room/) });
    execFileSync('touch', [join(workspace, 'gate')]);
    await watcher.untilVolatile((frame) => /cannot store this/.test(JSON.stringify(frame)));

    limitFiles(server, 'unlimited', newcomer);
    const answer = await watcher.until(({ observation }) => observation === 'run');
    expect(answer.content).toBe('done');
    await watcher.until(({ action, args }) => action === 'message' && args?.content === 'All done.');
    expect(execFileSync('cat', [join(workspace, 'counted')], { encoding: 'utf8' })).toBe('once\n');
    const ids = (await server.trajectory(id)).map((event) => event.id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
