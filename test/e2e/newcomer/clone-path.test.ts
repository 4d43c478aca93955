import { execFileSync, spawn } from 'node:child_process';
import { chownSync, cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, someOf, waitFor } from '@tendon/testing';
import { Watcher } from '@tendon/testing/servers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderOf, NEWCOMERS, type Newcomer } from './newcomers.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The tracked files as they are now, with the installed packages of this checkout and none of its builds. */
function cloneInto(folder: string, { account }: Newcomer): void {
  mkdirSync(folder, { recursive: true });
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  for (const file of files.split('\0').filter((name) => /^(packages|scripts|package|tsconfig|examples)/.test(name)))
    cpSync(join(root, file), join(folder, file), { recursive: true });
  mkdirSync(join(folder, 'node_modules/@tendon'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')).filter((each) => each !== '@tendon' && !each.startsWith('.vite')))
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules/@tendon', name));
  execFileSync('chown', ['-hR', `${account.uid}:${account.gid}`, folder]);
}

interface Started {
  readonly url: string;
  readonly npm: number;
  readonly ended: Promise<void>;
}

async function npmStart(folder: string, home: string, { account }: Newcomer): Promise<Started> {
  const port = await freePort();
  const env = { PATH: process.env.PATH, HOME: home, PORT: String(port), WORKSPACE_BASE: join(home, 'w s ü') };
  const npm = spawn('npm', ['start'], { ...account, cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  onTestFinished(() => {
    if (npm.exitCode === null) process.kill(-npm.pid!, 'SIGKILL');
  });
  let output = '';
  const banner = new Promise<void>((resolve, reject) => {
    for (const stream of [npm.stdout, npm.stderr])
      stream.on('data', (data: Buffer) => /^workspace .*$/m.test((output += data.toString())) && resolve());
    npm.once('exit', () => reject(new Error(`npm start ended:\n${output}`)));
  });
  await waitFor(banner, () => `the banner of:\n${output}`);
  const ended = new Promise<void>((resolve) => npm.once('exit', () => resolve()));
  return { url: `http://127.0.0.1:${port}`, npm: npm.pid!, ended };
}

function refused(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(socket.destroy() === undefined));
    socket.once('error', () => resolve(true));
  });
}

// Each builds everything: daily for an ordinary user, who may write least.
describe.each(someOf(NEWCOMERS, NEWCOMERS.slice(-1)))('a newcomer who is $name', (newcomer) => {
  it('SV242: starts in a path with spaces and umlauts, and ending npm ends the server', async () => {
    const top = folderOf(newcomer, 'tendon a b ü-');
    const [clone, home] = [join(top, 'ten don'), join(top, "ho me ü's")];
    cloneInto(clone, newcomer);
    mkdirSync(home);
    chownSync(home, newcomer.account.uid, newcomer.account.gid);
    const { url, npm, ended } = await npmStart(clone, home, newcomer);
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    const { conversation_id: id } = (await (await fetch(`${url}/api/conversations`, post)).json()) as { conversation_id: string };
    const watcher = new Watcher(url, id);
    onTestFinished(() => watcher.close());
    await watcher.untilState('awaiting_user_input');
    watcher.send('run', { command: 'echo made > here && cat here' });
    expect(await watcher.until(({ observation }) => observation === 'run')).toMatchObject({ content: 'made' });
    expect(readdirSync(join(home, 'w s ü'))).toEqual(['here']);
    expect((await fetch(`${url}/api/conversations/${id}`, { method: 'DELETE' })).ok).toBe(true);
    process.kill(npm, 'SIGTERM');
    await ended;
    expect(await refused(url)).toBe(true);
  });
});
