import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Runtime } from '@tendon/core';
import { ACTIONS } from '@tendon/protocol';
import { createTestSandboxes, executorFolder, never, observe, run, runAction, type TestSandboxes } from '../../testing/sandboxes.ts';
import type { DockerDriverOptions } from './docker-driver-options.ts';
import { createDockerDriver } from './docker-driver.ts';
import type { ImageName } from '../../testing/containers/images.ts';
import { openEngine } from '../../testing/containers/open-engine.ts';

const engine = await openEngine('docker');
afterAll(() => engine.close());
let sandboxes: TestSandboxes | undefined;
const close = async (): Promise<void> => {
  await sandboxes?.close();
  sandboxes = undefined;
};

async function start(image: ImageName, options: Partial<DockerDriverOptions> = {}): Promise<Runtime> {
  sandboxes = createTestSandboxes(
    createDockerDriver({ executor: executorFolder(), host: engine.host, image: engine.image(image), ...options }),
  );
  return sandboxes.runtimes.acquire('image', { signal: never });
}

const workspace = (): string => sandboxes!.workspace;

describe.each(['bookworm', 'no-python', 'busybox', 'bare'] as const)('a container of the image %s', (image) => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await start(image);
  });
  afterAll(close);

  it('SB40: runs commands, keeps the shell and edits files, whatever the image holds', async () => {
    expect(await run(runtime, 'echo $((6 * 7)); pwd; export MARK=yes')).toEqual({ output: '42\n/workspace', exitCode: 0 });
    expect(await run(runtime, 'cd /tmp && echo "$MARK $PWD" && [[ a == a ]] && printf %s x | wc -c')).toEqual({
      output: 'yes /tmp\n1',
      exitCode: 0,
    });
    expect((await run(runtime, 'id -u; whoami; exit 3')).exitCode).toBe(3);
    expect((await run(runtime, 'echo "$MARK"')).output).toBe('yes');
    const edit = { ...runAction(runtime, ''), ...ACTIONS.edit.create({ path: '/workspace/made', command: 'create', file_text: 'text\n' }) };
    expect(await runtime.execute(edit as Parameters<Runtime['execute']>[0], { signal: never })).toMatchObject({ outcome: 'observed' });
    expect(readFileSync(join(workspace(), 'made'), 'utf8')).toBe('text\n');
    expect(statSync(join(workspace(), 'made')).uid).toBe(process.getuid?.());
  });

  it('SB41: what the agent does to processes does not reach the executor', async () => {
    for (const command of ['kill -9 -1', 'kill -9 $$', 'for p in $(seq 2 40); do kill -9 $p; done', 'setsid sleep 1000 & disown -a']) {
      await run(runtime, command);
      expect((await run(runtime, 'echo on')).output, command).toBe('on');
    }
    expect(sandboxes!.runtimes.current('image')).toBe(runtime);
    expect((await run(runtime, 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')).output).not.toContain('main.mjs');
    expect(
      (await run(runtime, 'ls -A /var/lib/tendon /run/tendon/link /run/tendon/proxy | grep -v :; touch /opt/tendon/bin/x')).output,
    ).toMatch(/Read-only/);
  });
});

describe('a container', () => {
  afterEach(close);

  it('SB40: the programs of the agent see the variables of the image, and nothing of the executor’s loader', async () => {
    const runtime = await start('busybox');
    const { output } = await run(runtime, 'echo "$IMAGE_SAYS|$LD_PRELOAD|$NODE_OPTIONS|$LD_LIBRARY_PATH|$PATH|$HOME"');
    expect(output).toBe('hello|/missing.so|--require=/missing.cjs||/bin:/opt/tendon/bin|/home/tendon');
  });

  it('SB40: without a Python a cell is a clear error; with one `python` is there', async () => {
    const cell = async (runtime: Runtime) => {
      const action = { ...runAction(runtime, ''), ...ACTIONS.run_ipython.create({ code: '1' }) };
      const result = await runtime.execute(action as Parameters<Runtime['execute']>[0], { signal: never });
      return result.outcome === 'observed' ? result.observation.content : JSON.stringify(result);
    };
    expect(await cell(await start('no-python'))).toContain('there is no Python here');
    await close();
    expect((await run(await start('bookworm'), 'python -c "print(6 * 7)"; git --version')).output).toMatch(/^42\ngit version/);
  });

  it('SB42: no capability, no new privileges, our filter, and no egress but the proxy', async () => {
    const runtime = await start('bookworm');
    const { output } = await run(
      runtime,
      'grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/self/status; ls /sys/class/net; cat /proc/net/route | wc -l',
    );
    expect(output.replaceAll('\t', ' ')).toBe('CapEff: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\nlo\n1');
    const probe = (code: string) => {
      writeFileSync(join(workspace(), 'probe.py'), `import socket, ctypes\nl = ctypes.CDLL(None, use_errno=True)\n${code}\n`);
      return run(runtime, 'python3 probe.py');
    };
    for (const code of ['socket.socket(17,3)', 'socket.socket(2,3,1)', 'socket.socket(40,1)', 'socket.socket(16,3,12)'])
      expect((await probe(code)).output, code).toMatch(/Error/);
    for (const code of ['socket.socket(2,1)', 'socket.socket(1,1)', 'socket.socket(16,3,0)'])
      expect((await probe(code)).exitCode, code).toBe(0);
    expect((await probe('print(l.ptrace(0,0,0,0), ctypes.get_errno())')).output).toBe('-1 1');
    expect((await probe('print(l.ioctl(0,ctypes.c_ulong(0x100005412),ctypes.c_char_p(b"x")), ctypes.get_errno())')).output).toBe('-1 1');
    expect((await run(runtime, 'echo x > /proc/sys/kernel/core_pattern; cat /etc/shadow; mount -t tmpfs none /mnt')).output).toMatch(
      /denied[^]*denied[^]*(?:denied|permitted|superuser)/,
    );
  });

  it('SB42: memory, processes, descriptors and temporary folders have limits', async () => {
    const limits = { memoryBytes: 256 * 1024 ** 2, processes: 100, cpus: 1, fileBytes: 1024 ** 3, openFiles: 512, tmpBytes: 8 * 1024 ** 2 };
    const runtime = await start('bookworm', { limits });
    expect((await run(runtime, 'ulimit -n -c -f | tr -s " "')).output).toMatch(/512[^]*0[^]*1048576/);
    expect((await run(runtime, 'head -c 20000000 /dev/zero > /tmp/much')).output).toContain('No space left on device');
    expect((await run(runtime, 'rm /tmp/much; python3 -c "x = bytearray(10**9)"')).exitCode).toBe(137);
    expect((await run(runtime, `python3 -c 'import subprocess as s; [s.Popen(["sleep", "100"]) for _ in range(200)]'`)).output).toContain(
      'Resource temporarily unavailable',
    );
  });

  it('SB135: what is written to the root counts for its disk', async () => {
    const runtime = await start('bookworm', { limits: { diskBytes: 64 * 1024 ** 2 } });
    const much = 'cd /run/lock && for i in {1..128}; do dd if=/dev/zero of=f-$i bs=1M count=4 status=none; sleep 0.1; done';
    expect(await observe(runtime, ACTIONS.run.create({ command: much }))).toMatchObject({
      extras: { metadata: { suffix: expect.stringMatching(/may take 64 MiB, so this and what ran in the background was ended/) } },
    });
  });

  it('SB43: the root can be read-only, and folders of the host can be given', async () => {
    const given = mkdtempSync(join(tmpdir(), 'tendon-given-'));
    chmodSync(given, 0o755);
    writeFileSync(join(given, 'file'), 'theirs\n');
    const volumes = [{ source: given, target: '/data', readOnly: true }];
    const runtime = await start('bookworm', { isRootReadOnly: true, volumes });
    expect((await run(runtime, 'cat /data/file; touch /data/x /usr/x; touch /tmp/x ~/x x && echo fine')).output).toMatch(
      /^theirs\n.*Read-only[^]*Read-only[^]*fine$/,
    );
    rmSync(given, { recursive: true });
  });

  it('SB44: a container that somebody pauses goes on where it stood, and is ended as it is', async () => {
    const driver = createDockerDriver({ executor: executorFolder(), host: engine.host, image: engine.image('busybox') });
    sandboxes = createTestSandboxes(driver);
    const runtime = await sandboxes.runtimes.acquire('image', { signal: never });
    await run(runtime, 'variable=set');
    const { container = '' } = await sandboxes.handle('image');
    engine.command('pause', container);
    engine.command('unpause', container);
    expect((await run(runtime, 'echo $variable')).output).toBe('set');
    engine.command('pause', container);
    await sandboxes.runtimes.stop('image');
    expect(engine.command('ps', '--all', '--quiet').trim()).toBe('');
  });
});
