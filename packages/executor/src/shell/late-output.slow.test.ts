import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startExecutor } from '../testing/start-executor.ts';

/** A bash on a terminal inside its own, whose output comes late, as that of any terminal does where the kernel gets no processor. */
const LATE = `#!/usr/bin/python3
import os, pty, select, sys, time, tty
LATE_SECONDS = 1.5
tty.setraw(0)
pid, master = pty.fork()
if pid == 0: os.execv('/bin/bash', ['bash', *sys.argv[1:]])
os.close(3)
due = []
while True:
    wait = max(0, due[0][0] - time.monotonic()) if due else None
    ready = select.select([0, master], [], [], wait)[0]
    if 0 in ready: os.write(master, os.read(0, 4096))
    if master in ready:
        try: due.append((time.monotonic() + LATE_SECONDS, os.read(master, 65536)))
        except OSError: break
    while due and due[0][0] <= time.monotonic(): os.write(1, due.pop(0)[1])
`;

it(
  'RT650: output that reaches the terminal long after the shell has reported the end is the output of its command',
  { timeout: 60_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tendon-late-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const shell = join(folder, 'bash');
    writeFileSync(shell, LATE, { mode: 0o755 });
    const executor = await startExecutor({ shell: { program: shell } });
    onTestFinished(() => executor.kill());
    expect(await executor.run('echo one; false')).toMatchObject({ content: 'one', exitCode: 1 });
    expect(await executor.run('echo two')).toMatchObject({ content: 'two', exitCode: 0, prefix: '' });
  },
);
