import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import type { Runtime } from '@tendon/core';
import { ACTIONS } from '@tendon/protocol';
import type { ExecutorFolder } from '../drivers/start/executor-folder.ts';
import { createLocalDriver } from '../drivers/local/local-driver.ts';
import { createTestSandboxes, executorFolder, never, observe, run, until, type TestSandboxes } from '../testing/sandboxes.ts';

const MiB = 1024 ** 2;
const LIMIT = 64 * MiB;
/**
 * More than may be written before it is looked, and going on for longer than a count can be put off by files that others remove from
 * the same disk meanwhile.
 */
const MUCH = 'for i in {1..400}; do dd if=/dev/zero of=much-$i bs=1M count=4 status=none; sleep 0.1; done';

/** Real commands fill a real disk; what the model reads of it. */
describe('the disk of a sandbox', () => {
  let executor: ExecutorFolder;
  let sandboxes: TestSandboxes;
  beforeAll(() => {
    executor = executorFolder();
  });
  afterEach(() => sandboxes.close());

  async function open(diskBytes = LIMIT): Promise<Runtime> {
    sandboxes = createTestSandboxes(createLocalDriver({ executor, limits: { diskBytes } }));
    return sandboxes.runtimes.acquire('a', { signal: never });
  }
  async function suffixOf(runtime: Runtime, command: string): Promise<string> {
    const seen = await observe(runtime, { ...ACTIONS.run.create({ command }), timeout: 100 }); // silent for as long as a busy disk wants
    if (seen.observation !== 'run') throw new Error(seen.content);
    return seen.extras.metadata.suffix;
  }

  itInFull('SB135: what goes beyond it is ended, with a note of what was taken and what to do', async () => {
    const runtime = await open();
    const note = await suffixOf(runtime, MUCH);
    expect(note).toMatch(
      /\[The sandbox takes [\d.]+ [MG]iB on the disk, and may take 64 MiB, so this and what ran in the background was ended\. Remove what/,
    );
    expect(existsSync(join(sandboxes.workspace, 'much-400'))).toBe(false);
    expect(sandboxes.runtimes.current('a')).toBe(runtime);
  });

  it('SB136: until there is space files are not written, what writes is ended, and what frees space is not', async () => {
    const runtime = await open();
    await run(runtime, MUCH);
    const written = await observe(runtime, ACTIONS.write.create({ path: 'file', content: 'x' }), { isFresh: true });
    expect(written).toMatchObject({
      observation: 'error',
      content: expect.stringMatching(/^Nothing was written: the sandbox takes .*`du /),
    });
    await expect(runtime.files.write('file', Buffer.from('x'), { signal: never })).rejects.toThrow(/may take 64 MiB/);
    expect(await suffixOf(runtime, MUCH.replaceAll('much', 'more'))).toContain('was ended');
    expect(existsSync(join(sandboxes.workspace, 'more-400'))).toBe(false);
    expect(await suffixOf(runtime, 'echo x > small; cat small')).toContain('may take 64 MiB. Remove');
    expect(await suffixOf(runtime, 'rm much-* more-*')).not.toContain('may take 64 MiB. Remove');
    expect(await observe(runtime, ACTIONS.write.create({ path: 'file', content: 'x' }))).toMatchObject({ observation: 'write' });
    expect(await suffixOf(runtime, 'cat small')).not.toContain('on the disk');
  });

  itInFull('SB135: files without a name count, and what writes in the background is ended', async () => {
    const runtime = await open();
    const hidden = `(trap "" INT TERM HUP; exec 3> hidden; rm hidden; for i in {1..400}; do dd if=/dev/zero bs=1M count=4 status=none >&3 || exit; sleep 0.1; done; touch all)`;
    await run(runtime, `setsid bash -c '${hidden.replaceAll("'", "'\\''")}' < /dev/null > /dev/null 2>&1 & echo $! > pid; sleep 0.1`);
    await until('it to be ended', async () => (await run(runtime, 'pgrep -x dd')).exitCode === 1);
    expect(existsSync(join(sandboxes.workspace, 'all'))).toBe(false);
    expect((await run(runtime, 'echo next')).output).toBe('next');
  });

  itInFull('SB341: files without bytes are counted too', async () => {
    const limit = 16 * MiB; // entries take more of the kernel's time than bytes
    const runtime = await open(limit);
    const note = await suffixOf(
      runtime,
      `mkdir e; for ((i = 0; i < 200000; i++)); do : > e/$i; ((i % 400)) || sleep 0.15; done; touch all`,
    );
    expect(note).toMatch(/takes [\d.]+ [MG]iB on the disk, and may take 16 MiB, so this .* was ended/);
    expect(existsSync(join(sandboxes.workspace, 'all'))).toBe(false);
    expect(await suffixOf(runtime, 'rm -r e')).not.toContain('may take 16 MiB. Remove');
  });

  it('SB137: what goes on writing whatever is done ends with its sandbox, and says why', async () => {
    const runtime = await open();
    const code = `import threading, time
def fill():
    for i in range(4096):
        with open(f'/workspace/fill-{i}', 'wb') as f: f.write(b'x' * 2**22)
        time.sleep(0.05)
threading.Thread(target=fill).start()`;
    await observe(runtime, ACTIONS.run_ipython.create({ code }));
    expect(await runtime.lost).toMatch(/takes [\d.]+ [MG]iB on the disk, more than its 64 MiB, and goes on writing/);
    await until('it to end', async () => (await sandboxes.record('a'))?.state === 'ended');
  });

  itInFull('SB135: what the workspace held before is not counted, and 0 is no limit', async () => {
    sandboxes = createTestSandboxes(createLocalDriver({ executor, limits: { diskBytes: LIMIT } }));
    writeFileSync(join(sandboxes.workspace, 'given'), Buffer.alloc(2 * LIMIT, 1));
    const runtime = await sandboxes.runtimes.acquire('a', { signal: never });
    expect(await suffixOf(runtime, 'head -c 1M /dev/zero > little')).not.toContain('on the disk');
    expect(await sandboxes.record('a')).toMatchObject({ given_bytes: expect.any(Number) });
    await sandboxes.close();
    const free = await open(Infinity);
    expect(await suffixOf(free, 'fallocate -l 200M much')).not.toContain('on the disk');
    expect(statSync(join(sandboxes.workspace, 'much')).size).toBe(200 * MiB);
  });
});
