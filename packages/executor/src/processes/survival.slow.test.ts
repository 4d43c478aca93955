import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { itInFull, someOf } from '@tendon/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerInfo } from '../http/server-info.ts';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function start(...args: Parameters<typeof startExecutor>): Promise<TestExecutor & { isNested: boolean }> {
  const executor = await startExecutor(...args);
  cleanups.push(() => executor.kill());
  const info = JSON.parse((await executor.call('GET', '/server_info')).body) as ServerInfo;
  return Object.assign(executor, { isNested: info.nested });
}

/** A server that processes inside connect to: the connection closes when the last of them is gone. */
async function watchtower(): Promise<{ readonly hold: string; connection(): Promise<Socket> }> {
  const server: Server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => void server.close());
  const { port } = server.address() as { port: number };
  return {
    hold: `exec 9<>/dev/tcp/127.0.0.1/${port}`,
    async connection() {
      const [socket] = (await once(server, 'connection')) as [Socket];
      socket.resume().on('error', () => {});
      return socket;
    },
  };
}

describe('survival', () => {
  it('RT40: the usual ways to kill everything leave the executor whole', async () => {
    const executor = await start();
    if (!executor.isNested) return; // /server_info reports it; the next test has that case
    await executor.run('sleep 300 & sleep 300 &');
    await executor.run('pkill -9 -f node; pkill -9 -f main; kill -9 -1');
    expect(await executor.run('echo whole; ps -e -o comm= | grep -c -e node -e sleep')).toMatchObject({
      content: expect.stringMatching(/whole\n0$/m),
    });
    const { suffix } = await executor.run('pkill -9 bash; sleep 5');
    expect(suffix).toContain('ended the shell');
    expect(await executor.run('echo next')).toMatchObject({ content: 'next', exitCode: 0 });
    expect(executor.process.exitCode).toBeNull();
  });

  it('RT44: the socket and the journal are not there for what runs inside', async () => {
    const executor = await start();
    const { stateDir } = executor.config.folders;
    const { socketPath = '' } = executor.config.endpoint;
    const { content } = await executor.run(`ls -A ${stateDir} ${dirname(socketPath)}; umount ${stateDir} 2>&1 | wc -l; ls -A ${stateDir}`);
    const empty = `${[dirname(socketPath), stateDir]
      .toSorted()
      .map((folder) => `${folder}:\n`)
      .join('\n')}`;
    const isRoot = process.getuid?.() === 0; // driver `none` as root: it could uncover them, as it could do anything
    expect(executor.isNested && !isRoot ? content : `${empty}1`).toBe(`${empty}1`);
    expect(await executor.run('echo socket still works')).toMatchObject({ exitCode: 0 });
  });

  it('RT68, RT490: nor are they for its file actions', async () => {
    const executor = await start();
    const { stateDir } = executor.config.folders;
    const refused = { content: expect.stringContaining(`${stateDir}/own belongs to the runtime itself`) };
    expect(await executor.act('read', { path: `${stateDir}/journal` })).toMatchObject({ observation: 'error' });
    expect(await executor.act('edit', { command: 'create', path: `${stateDir}/own`, file_text: 'x' })).toMatchObject(refused);
    expect(await executor.act('edit', { command: 'view', path: stateDir })).toMatchObject({
      content: `ERROR:\n${stateDir} belongs to the runtime itself`,
    });
    expect(readdirSync(stateDir)).not.toContain('own');
  });

  itInFull('RT40: where namespaces cannot be nested commands still run, and /server_info reports it', async () => {
    const bin = mkdtempSync(join(tmpdir(), 'tendon-bin-'));
    cleanups.push(() => rmSync(bin, { recursive: true }));
    const taken = new Set<string>(['unshare']);
    for (const folder of ['/usr/local/bin', '/usr/bin', '/bin'])
      for (const name of readdirSync(folder))
        if (!taken.has(name)) void (taken.add(name), symlinkSync(join(folder, name), join(bin, name)));
    const executor = await start({}, { PATH: bin });
    const info = JSON.parse((await executor.call('GET', '/server_info')).body) as ServerInfo;
    expect(info).toMatchObject({ nested: false, nested_reason: expect.stringContaining('unshare') });
    expect(await executor.run('echo works; exit 3')).toMatchObject({ content: 'works\nexit', exitCode: 3 });
    expect(await executor.run('echo still')).toMatchObject({ content: 'still' });
  });

  it.each(someOf(['SIGKILL', 'SIGTERM'] as const, 1))('RT41: with the executor (%s) everything ends that it started', async (signal) => {
    const executor = await start();
    const { hold, connection } = await watchtower();
    const script = executor.isNested ? 'setsid sh -c "sleep 300" & sleep 300 & sleep 300' : 'sleep 300';
    const connected = connection();
    void executor.run(`${hold}; ${script}`, {}, 600).catch(() => {}); // its answer is cut off
    const socket = await connected;
    const closed = once(socket, 'close');
    if (!executor.isNested && signal === 'SIGKILL') return; // RT41 promises it only where nested
    executor.process.kill(signal);
    await expect(closed).resolves.toBeDefined();
  });

  it('RT42: orphans are reaped', async () => {
    const executor = await start();
    await executor.run('for i in $(seq 20); do (sleep 0.05 &) ; done; sleep 0.3');
    const scope = executor.isNested ? '-e' : '--ppid $$'; // beside others' processes only ours are looked at
    const none = await executor.run(`while ps ${scope} -o stat= | grep -q Z; do sleep 0.05; done; echo none`, {}, 30);
    expect(none).toMatchObject({ content: 'none' });
  });

  it('RT43: an executor without a server ends itself, one with work does not before', async () => {
    const executor = await start({ limits: { leaseSeconds: 5 } });
    const ended = once(executor.process, 'exit');
    expect(await executor.run('sleep 7; echo done', {}, 60)).toMatchObject({ content: 'done' });
    await ended;
  });

  itInFull('RT31: commands beside the session have its folder and variables, and cannot hang it', async () => {
    const executor = await start();
    await executor.run('export A=yes; mkdir d; cd d');
    expect(await executor.run('echo $A; basename $PWD; sleep 300 & exit 4', { is_static: true })).toMatchObject({
      content: 'yes\nd',
      exitCode: 4,
    });
    expect(await executor.run('read -r line; echo "nobody types: $?"', { is_static: true })).toMatchObject({
      content: 'nobody types: 1',
      exitCode: 0,
    });
    expect(await executor.run('sleep 300', { is_static: true }, 0.3)).toMatchObject({
      exitCode: -1,
      suffix: expect.stringContaining('0.3 seconds'),
    });
    const { hold, connection } = await watchtower();
    const connected = connection();
    const { content, exitCode, extras } = await executor.run(`${hold}; sleep 300 & sleep 300`, { background: true });
    expect({ content, exitCode, id: extras.command_id }).toEqual({
      content: expect.stringMatching(/^It runs in the background as number 0: an action `kill` with this id ends it\./),
      ...{ exitCode: 0, id: 0 },
    });
    const socket = await connected;
    const closed = once(socket, 'close');
    expect(await executor.act('kill', { id: extras.command_id })).toMatchObject({
      ...{ observation: 'run', content: 'Number 0 of the background was ended.', extras: { command_id: 0 } },
    });
    await closed;
    expect(await executor.act('kill', { id: '99' })).toMatchObject({ observation: 'error' });
  });
});
