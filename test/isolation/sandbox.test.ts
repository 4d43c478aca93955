import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import type { Runtime } from '@tendon/core';
import { ACTIONS } from '@tendon/protocol';
import { createLocalDriver } from '@tendon/runtime';
import {
  createTestSandboxes,
  execute,
  executorFolder,
  leftOf,
  never,
  observe,
  run,
  type TestSandboxes,
  until,
} from '@tendon/runtime/testing';

/** Seen from the inside, through real `run` actions: what is peculiar to this driver. What hostile commands try on every driver is in `escape/`. Needs bubblewrap and fails without it. */
describe('inside the local sandbox', () => {
  const home = mkdtempSync(join(tmpdir(), 'tendon-home-'));
  const MEMORY = 512 * 1024 ** 2;
  let sandboxes: TestSandboxes;
  let runtime: Runtime;

  beforeAll(async () => {
    mkdirSync(join(home, 'workspaces'));
    writeFileSync(join(home, 'tendon.db'), 'secret');
    const limits = { memoryBytes: MEMORY, processes: 200, cpus: 2 };
    const executor = executorFolder();
    const driver = createLocalDriver({ executor, limits, hidden: [home], workspacesFolder: join(home, 'workspaces') });
    const probe = await driver.probe();
    if (!probe.available) throw new Error(`${probe.reason}. ${probe.fix}`);
    sandboxes = createTestSandboxes(driver);
    runtime = await sandboxes.runtimes.acquire('inside', { signal: never });
  });
  afterAll(async () => {
    await sandboxes?.close();
    rmSync(home, { recursive: true, force: true });
  });
  const inside = (command: string) => run(runtime, command);

  it('SB11: has no network but its own loopback', async () => {
    expect((await inside('cat /proc/net/dev')).output.match(/^\s*\w+:/gm)).toEqual([expect.stringContaining('lo:')]);
  });

  it('SB17: a folder of the server below the workspace does not show through', async () => {
    const nested = mkdtempSync(join(sandboxes.workspace, 'home-'));
    writeFileSync(join(nested, 'tendon.db'), 'secret');
    const link = `${nested}-link`; // the server may know its home by another name
    symlinkSync(nested, link);
    const other = createTestSandboxes(createLocalDriver({ executor: executorFolder(), hidden: [link] }), {
      workspaceOf: async () => ({ hostPath: sandboxes.workspace }),
    });
    try {
      const masked = await other.runtimes.acquire('masked', { signal: never });
      const path = `/workspace/${nested.split('/').at(-1)}`;
      expect((await run(masked, `ls -A ${path}; touch ${path}/x`)).output).toMatch(/Read-only file system/);
      expect(readdirSync(nested)).toEqual(['tendon.db']);
    } finally {
      await other.close();
    }
  });

  itInFull('SB17: nor does the agent move it, by a folder above it, to where the next start does not look for it', async () => {
    const nested = join(sandboxes.workspace, 'deep/er/home');
    mkdirSync(nested, { recursive: true });
    writeFileSync(join(nested, 'tendon.db'), 'secret');
    const other = createTestSandboxes(createLocalDriver({ executor: executorFolder(), hidden: [nested] }), {
      workspaceOf: async () => ({ hostPath: sandboxes.workspace }),
    });
    try {
      const first = await other.runtimes.acquire('masked', { signal: never });
      const moved = await run(first, 'mkdir plain; mv plain fine; for f in deep deep/er; do mv -T $f moved; done; touch deep/er/made');
      expect(moved.output.match(/Device or resource busy/g)).toHaveLength(2);
      expect(existsSync(join(sandboxes.workspace, 'deep/er/made'))).toBe(true);
      await other.runtimes.end('masked', 'another start');
      const again = await other.runtimes.acquire('masked', { signal: never });
      expect((await run(again, 'find deep -name tendon.db')).output).toBe('');
    } finally {
      await other.close();
      rmSync(join(sandboxes.workspace, 'deep'), { recursive: true, force: true });
    }
  });

  it('SB17: the server’s own folder is refused as a workspace', async () => {
    const workspaceOf = async () => ({ hostPath: home });
    const other = createTestSandboxes(createLocalDriver({ executor: executorFolder(), hidden: [home] }), { workspaceOf });
    await expect(other.runtimes.acquire('own', { signal: never })).rejects.toThrow(/belongs to the server itself/);
    await other.close();
  });

  it('SB18: writes to its workspace, home and /tmp', async () => {
    expect((await inside('touch /workspace/a ~/a /tmp/a /var/tmp/a')).exitCode).toBe(0);
  });

  it('SB5: its files belong to the owner of the workspace', async () => {
    await inside('echo x > mine; mkdir folder; echo y > folder/mine');
    const owner = statSync(sandboxes.workspace);
    for (const path of ['mine', 'folder', 'folder/mine']) {
      expect(statSync(join(sandboxes.workspace, path))).toMatchObject({ uid: owner.uid, gid: owner.gid });
    }
    expect((await inside('stat -c %U mine; id -un')).output).toBe('tendon\ntendon');
  });

  it('SB410: neither a shell nor a command beside it can make a namespace', async () => {
    const attempt = 'unshare --user --map-root-user --net true';
    const refused = /No space left on device/;
    expect((await inside(attempt)).output).toMatch(refused);
    for (const how of [{ is_static: true }, { session: 'second' }]) {
      expect((await observe(runtime, ACTIONS.run.create({ command: attempt, ...how }))).content).toMatch(refused);
    }
  });

  it('SB412: terminals of shells have a name that programs can open, and those of programs are others', async () => {
    expect((await inside('tty; test "$(tty)" -ef /proc/self/fd/0 && echo the same; echo typed > "$(tty)"')).output).toBe(
      '/run/tendon/terminals/0\nthe same\ntyped',
    );
    expect((await inside('script -qc tty /dev/null')).output).toBe('/dev/pts/0');
  });

  it('SB412: a sandbox that holds all its terminals takes none of the shells’ from itself, and none from another', async () => {
    const taken = `python3 -c "
import os, time
try:
    while True: os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)
except OSError: open('taken', 'w').close()
time.sleep(1000)"`;
    await observe(runtime, ACTIONS.run.create({ command: taken, background: true }));
    await until('all terminals to be taken', () => existsSync(join(sandboxes.workspace, 'taken')));
    const named = await observe(runtime, ACTIONS.run.create({ command: 'echo a shell more', session: 'second' }));
    expect(named.content).toContain('a shell more');
    const other = await sandboxes.runtimes.acquire('other', { signal: never });
    expect((await run(other, 'script -qc tty /dev/null')).output).toBe('/dev/pts/0');
    await sandboxes.runtimes.stop('other');
    await inside('pkill -9 python3');
  });

  it('SB16: a fork bomb that nobody stops ends with its sandbox', async () => {
    const limits = { memoryBytes: MEMORY, processes: 100, cpus: 0.5 };
    const other = createTestSandboxes(createLocalDriver({ executor: executorFolder(), limits }));
    try {
      const bombed = await other.runtimes.acquire('bomb', { signal: never });
      const running = execute(bombed, 'bomb() { bomb | bomb & }; touch lit; bomb; sleep 1000');
      await until('the bomb to be lit', () => existsSync(join(other.workspace, 'lit')));
      await other.runtimes.stop('bomb');
      expect((await running).outcome).toMatch(/unknown|observed/);
      expect(leftOf(bombed.incarnation, other.stateRoot)).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('SB19: commands that kill everything do not end the executor', async () => {
    for (const command of ['pkill -9 -f node', 'pkill -9 node; kill -9 -1', 'kill -9 $$', 'pkill -9 .; kill -KILL 1']) {
      expect((await execute(runtime, command)).outcome, command).toBe('observed');
      expect(await inside('echo alive'), command).toMatchObject({ output: 'alive' });
    }
    expect(runtime).toBe(sandboxes.runtimes.current('inside'));
  });

  it('SB802: a command in which git cannot share a repository gets a suffix that says what works', async () => {
    await inside('git init -q shared && cd shared && git config core.sharedRepository group && echo x > file; cd ..');
    for (const command of ['git init --shared another', 'git -C shared add file']) {
      expect((await observe(runtime, ACTIONS.run.create({ command }))).extras).toMatchObject({
        metadata: { suffix: expect.stringContaining("'git -c core.sharedRepository=umask …'") },
      });
    }
    const git = 'git -C shared -c core.sharedRepository=umask -c user.name=a -c user.email=a@b';
    expect((await inside(`${git} add file && ${git} commit -qm one && git -C shared log --format=%s`)).output).toBe('one');
  });

  it('SB343: while one sandbox takes all inotify that it can, another one has some', async () => {
    const take = `import ctypes, time; libc = ctypes.CDLL(None)
while libc.inotify_init() != -1: pass
open('watched', 'w').close(); time.sleep(1000)`;
    await inside(`python3 -c "${take}" & until [ -e watched ]; do sleep 0.1; done`);
    const count = `import ctypes; libc = ctypes.CDLL(None); print(sum(libc.inotify_init() != -1 for _ in range(16)))`;
    expect((await inside(`python3 -c "${count}"`)).output).toBe('0');
    const neighbour = await sandboxes.runtimes.acquire('neighbour', { signal: never });
    expect((await run(neighbour, `python3 -c "${count}"`)).output).toBe('16');
    await inside('kill %1; wait; rm watched');
  });
});
