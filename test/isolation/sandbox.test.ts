import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { homedir, networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Runtime } from '@tendon/core';
import { createLocalDriver } from '../../packages/runtime/src/drivers/local/local-driver.ts';
import {
  createTestSandboxes,
  execute,
  executorFolder,
  leftOf,
  never,
  run,
  until,
  type TestSandboxes,
} from '../../packages/runtime/src/sandbox.test-support.ts';

/** Seen from the inside, through real `run` actions: what a hostile command finds. Needs bubblewrap and fails without it. */
describe('inside the local sandbox', () => {
  const home = mkdtempSync(join(tmpdir(), 'tendon-home-'));
  const server = createServer((_request, response) => response.end('the host answers'));
  const MEMORY = 512 * 1024 ** 2;
  let sandboxes: TestSandboxes;
  let runtime: Runtime;
  let port = 0;

  beforeAll(async () => {
    process.env.SANDBOX_TEST_SECRET = 'not for the inside';
    mkdirSync(join(home, 'workspaces'));
    writeFileSync(join(home, 'tendon.db'), 'secret');
    await once(server.listen(0), 'listening');
    port = (server.address() as AddressInfo).port;
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
    server.close();
    rmSync(home, { recursive: true, force: true });
    delete process.env.SANDBOX_TEST_SECRET;
  });
  const inside = (command: string) => run(runtime, command);

  it('SB20: reaches no service of the host, directly or through the proxy', async () => {
    const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).filter(({ family }) => family === 'IPv4'));
    for (const host of ['127.0.0.1', 'localhost', ...own.map(({ address }) => address)]) {
      const direct = await inside(`curl -sS -m 5 --noproxy '*' http://${host}:${port}/`);
      const proxied = await inside(`curl -sS -m 5 --noproxy '' http://${host}:${port}/`);
      for (const { output } of [direct, proxied]) expect(output, host).not.toContain('the host answers');
    }
  });

  it.each(['169.254.169.254', '10.0.0.1', '192.168.0.1', '100.100.100.200', '[fd00::1]'])('SB20: cannot reach %s', async (host) => {
    expect((await inside(`curl -sS -m 5 --noproxy '*' http://${host}/`)).exitCode).not.toBe(0);
    const { output } = await inside(`curl -sS -m 5 -o - -w '%{http_code}' http://${host}/`);
    expect(output).toMatch(/403$/);
  });

  it('SB11: has no network but its own loopback', async () => {
    expect((await inside('cat /proc/net/dev')).output.match(/^\s*\w+:/gm)).toEqual([expect.stringContaining('lo:')]);
  });

  it('SB17: does not see the host: its users, homes, environment, processes and folders', async () => {
    for (const path of [
      '/etc/shadow',
      '/root',
      homedir(),
      home,
      sandboxes.stateRoot,
      '/sys/kernel',
      '/dev/sda',
      '/dev/vda',
      '/var/run/docker.sock',
    ]) {
      expect((await inside(`test -e ${path}`)).exitCode, path).toBe(1);
    }
    const { output } = await inside('env; cat /proc/*/environ');
    expect(output).not.toContain('not for the inside');
    expect((await inside('ls /etc/ssl/private /etc/ssh /etc/sudoers')).exitCode).not.toBe(0);
    expect((await inside(`grep -l ${process.pid} /proc/[0-9]*/stat`)).output).not.toContain(`/proc/${process.pid}/`);
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

  it('SB17: the server’s own folder is refused as a workspace', async () => {
    const workspaceOf = async () => ({ hostPath: home });
    const other = createTestSandboxes(createLocalDriver({ executor: executorFolder(), hidden: [home] }), { workspaceOf });
    await expect(other.runtimes.acquire('own', { signal: never })).rejects.toThrow(/belongs to the server itself/);
    await other.close();
  });

  it('SB18: writes to its workspace, home and /tmp, and nowhere else', async () => {
    expect((await inside('touch /workspace/a ~/a /tmp/a /var/tmp/a')).exitCode).toBe(0);
    for (const path of ['/a', '/usr/a', '/etc/a', '/etc/passwd', '/opt/tendon/executor/main.mjs', '/run/tendon/proxy/a']) {
      expect((await inside(`echo x >> ${path}`)).output, path).toMatch(/Read-only file system|Permission denied|No such file/);
    }
    for (const name of ['kernel/core_pattern', 'kernel/randomize_va_space', 'vm/drop_caches']) {
      expect((await inside(`echo 2 > /proc/sys/${name}`)).output, name).toMatch(/denied|Read-only/);
    }
  });

  it('SB5: its files belong to the owner of the workspace', async () => {
    await inside('echo x > mine; mkdir folder; echo y > folder/mine');
    const owner = statSync(sandboxes.workspace);
    for (const path of ['mine', 'folder', 'folder/mine']) {
      expect(statSync(join(sandboxes.workspace, path))).toMatchObject({ uid: owner.uid, gid: owner.gid });
    }
    expect((await inside('stat -c %U mine; id -un')).output).toBe('tendon\ntendon');
  });

  it('SB12: ptrace, keys, raw sockets, foreign address families and mounts are refused', async () => {
    const script = [
      'use Socket; use strict;',
      'my %calls = (ptrace => [101, 117], keyctl => [250, 219], bpf => [321, 280], perf => [298, 241]);',
      'my $arm = `uname -m` =~ /aarch64/ ? 1 : 0;',
      'for (sort keys %calls) { my $r = syscall($calls{$_}[$arm], 0, 0, 0, 0); print "$_ ", $r < 0 ? $! : "works", "\\n" }',
      'for (17, 38, 40) { print "family $_ ", socket(my $s, $_, 2, 0) ? "works" : "refused", "\\n" }',
      'print "raw ", socket(my $s, 2, 3, 1) ? "works" : "refused", "\\n";',
    ].join(' ');
    const { output } = await inside(`perl -e '${script}'`);
    expect(output).not.toContain('works');
    expect(output.match(/Operation not permitted/g)?.length).toBe(4);
    expect((await inside('mount -t tmpfs none /mnt; grep -E "^Cap(Eff|Prm)" /proc/self/status')).output).toMatch(
      /CapPrm:\s+0+\s+CapEff:\s+0+/,
    );
  });

  it('SB12: a nested namespace is possible and gains nothing', async () => {
    const nested = `unshare --user --map-root-user --mount --pid --fork --mount-proc --net sh -c`;
    expect((await inside(`${nested} 'id -u'`)).output).toBe('0');
    const tricks =
      'umount /workspace; mount -o remount,rw /usr; touch /usr/x; ls /root; cat /etc/shadow; echo x > /proc/sys/kernel/core_pattern';
    const { output } = await inside(`${nested} '${tricks}'`);
    expect(output).toMatch(/umount|not permitted|denied/);
    expect((await inside('test -e /usr/x')).exitCode).toBe(1);
    expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).not.toBe('x\n');
  });

  it('SB13: a fork bomb stays inside, and the next action works', async () => {
    const bomb =
      'my @p; for (1..1000) { my $p = fork; if (!defined $p) { print "refused: $!\\n"; last } $p or sleep(100), exit; push @p, $p } kill 9, @p';
    expect((await inside(`perl -e '${bomb}'`)).output).toBe('refused: Resource temporarily unavailable');
    expect((await inside('echo alive')).output).toBe('alive');
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

  it('SB13: memory beyond the limit ends the command, not the sandbox', async () => {
    const hog = await inside(`perl -e 'my @a; push @a, "x" x 1048576 for 1..${(2 * MEMORY) / 1024 ** 2}; print "had it all"'`);
    expect(hog.output).not.toContain('had it all');
    expect((await inside('echo alive')).output).toBe('alive');
    expect(runtime).toBe(sandboxes.runtimes.current('inside'));
  });

  it('SB19: commands that kill everything do not end the executor', async () => {
    for (const command of ['pkill -9 -f node', 'pkill -9 node; kill -9 -1', 'kill -9 $$', 'pkill -9 .; kill -KILL 1']) {
      expect((await execute(runtime, command)).outcome, command).toBe('observed');
      expect(await inside('echo alive'), command).toMatchObject({ output: 'alive' });
    }
    expect(runtime).toBe(sandboxes.runtimes.current('inside'));
  });
});
