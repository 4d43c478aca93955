import { readFileSync } from 'node:fs';
import type { Runtime } from '@tendon/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalDriver } from '../drivers/local/local-driver.ts';
import { createTestSandboxes, execute, executorFolder, never, run, type TestSandboxes } from '../testing/sandboxes.ts';

const MiB = 1024 ** 2;

/** Real commands run into real limits; what the model reads of it. */
describe('limits of a sandbox', () => {
  let sandboxes: TestSandboxes;
  let runtime: Runtime;
  beforeAll(async () => {
    const limits = { memoryBytes: 256 * MiB, processes: 100, fileBytes: 20 * MiB, openFiles: 300, tmpBytes: 8 * MiB };
    sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder(), limits }));
    runtime = await sandboxes.runtimes.acquire('limited', { signal: never });
  });
  afterAll(() => sandboxes.close());

  /** The hint beside the output. */
  async function noteOf(command: string): Promise<string> {
    const result = await execute(runtime, command);
    if (result.outcome !== 'observed' || result.observation.observation !== 'run') throw new Error(JSON.stringify(result));
    return result.observation.extras.metadata.suffix;
  }

  it('SB90: memory that is used up is reported, and ends the command, not the executor', async () => {
    expect(await noteOf(`perl -e 'my @a; push @a, "x" x ${MiB} for 1..1000'`)).toContain(
      "[The sandbox's memory limit of 256 MiB was reached, and a process was ended for it.]",
    );
    expect(await noteOf('true')).not.toContain('limit');
    expect(sandboxes.runtimes.current('limited')).toBe(runtime);
  });

  it('SB91: what the agent starts goes before the executor', async () => {
    const result = await execute(runtime, 'cat /proc/self/oom_score_adj');
    expect(result).toMatchObject({ observation: { content: '500' } });
    const { anchor } = await sandboxes.handle('limited');
    expect(scoreOf(anchor!.pid)).toBeLessThan(500);
  });

  it.runIf(process.getuid?.() === 0)('SB650: it is likelier to be ended than the server', async () => {
    const { anchor } = await sandboxes.handle('limited');
    expect(scoreOf(anchor!.pid)).toBe(Math.max(scoreOf('self'), 0) + 100);
  });

  it.runIf(process.getuid?.() === 0)(
    'SB650: nothing in it gets below the server, nor changes it where the server has CAP_SYS_RESOURCE',
    async () => {
      const lower =
        'for score in -1000 -1 0 50 99; do echo $score > /proc/self/oom_score_adj; done 2>/dev/null; cat /proc/self/oom_score_adj';
      const own = Math.max(scoreOf('self'), 0);
      const score = Number((await run(runtime, lower)).output);
      expect(score).toBeGreaterThanOrEqual(holdsScores() ? 500 : own);
    },
  );

  it('SB90: too large a file', async () => {
    expect(await noteOf('head -c 40M /dev/zero > large; code=$?; rm large; (exit $code)')).toContain(
      '[A file in the sandbox can be 20 MiB at most.]',
    );
    expect((await run(runtime, 'head -c 10M /dev/zero > fits && rm fits')).exitCode).toBe(0);
  });

  it('SB90: too many open files', async () => {
    const opening = 'my @f; for (1..400) { open(my $f, "<", "/etc/passwd") or die "$!\\n"; push @f, $f }';
    expect(await noteOf(`perl -e '${opening}'`)).toContain('[A process in the sandbox can have 300 files open.]');
  });

  it('SB90: a full temporary folder', async () => {
    expect(await noteOf('head -c 10M /dev/zero > /tmp/full; rm /tmp/full')).toContain('[/tmp, /var/tmp and /dev/shm hold 8 MiB each');
  });
});

function scoreOf(pid: number | 'self'): number {
  return Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'));
}

/** Whether this process has CAP_SYS_RESOURCE, which root in a container may lack: what it sets is then a bound for others. */
function holdsScores(): boolean {
  const [, effective = '0'] = /^CapEff:\s*(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return ((BigInt(`0x${effective}`) >> 24n) & 1n) === 1n;
}
