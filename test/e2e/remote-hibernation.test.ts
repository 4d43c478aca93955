import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Runtime } from '@tendon/core';
import { Secret } from '@tendon/protocol/masking';
import { itInFull, runs, someOf } from '@tendon/testing';
import { ExecutorHostProcess } from '@tendon/testing/servers';
import { createRemoteDriver, type SandboxPoolOptions } from '@tendon/runtime';
import { createTestSandboxes, executorFolder, leftOf, never, run, runAction, type TestSandboxes } from '@tendon/runtime/testing';

const SET_UP = 'mkdir -p inner && cd inner && export STORED="a b" && plain=(1 2) && greet() { echo "hi $1"; } && echo x > /tmp/file';
const LOOK = 'basename "$PWD"; echo "$STORED ${plain[1]}"; greet you; cat /tmp/file';
/** So often an action comes to a sandbox that is about to hibernate. */
const TIMES = runs(8, 4);
const AS_IT_WAS = ['inner', 'a b 2', 'hi you', 'x'];

describe('an idle sandbox on another host', () => {
  beforeAll(() => void executorFolder());

  async function open(
    idlePlan: SandboxPoolOptions['idlePlan'],
  ): Promise<{ readonly host: ExecutorHostProcess; readonly sandboxes: TestSandboxes }> {
    const host = await ExecutorHostProcess.start();
    const sandboxes = createTestSandboxes(createRemoteDriver({ url: host.url, key: new Secret(host.key) }), { idlePlan });
    onTestFinished(async () => {
      await sandboxes.close();
      await host.remove();
    });
    return { host, sandboxes };
  }
  const acquire = ({ runtimes }: TestSandboxes, id = 'a'): Promise<Runtime> => runtimes.acquire(id, { signal: never });
  const untilHibernated = (sandboxes: TestSandboxes, id = 'a') =>
    expect.poll(async () => (await sandboxes.record(id))?.state).toBe('asleep');
  const look = async (runtime: Runtime): Promise<readonly string[]> => (await run(runtime, LOOK)).output.split('\n');

  it('SB156: hibernates, leaves nothing there that runs, and is restored where it was', async () => {
    const { host, sandboxes } = await open({ idleMs: 200 });
    const first = await acquire(sandboxes);
    const action = runAction(first, SET_UP);
    const before = await first.execute(action, { signal: never });
    await untilHibernated(sandboxes);
    expect(leftOf(first.incarnation, host.stateRoot)).toEqual([]);
    const gone = await host.call(`/sandboxes/${first.incarnation}/alive`);
    expect(gone.status).toBe(410);
    const second = await acquire(sandboxes);
    expect(second.incarnation).not.toBe(first.incarnation);
    expect(await look(second)).toEqual(AS_IT_WAS);
    expect(await second.execute(action, { signal: never })).toEqual(before); // its outcome, not another run
  });

  itInFull('SB156: keeps running while something runs in it, and says what', async () => {
    const { sandboxes } = await open({ idleMs: 100 });
    const runtime = await acquire(sandboxes);
    await run(runtime, 'nohup sh -c "until test -e done; do sleep 0.05; done" >/dev/null 2>&1 &');
    const reasonToRun = async () => (await sandboxes.runtimes.list())[0]?.awake_for;
    await expect.poll(reasonToRun).toMatch(/^(sh|sleep) \(\d+\) runs$/);
    expect((await run(runtime, 'touch done; echo works')).output).toContain('works'); // beside what the shell says of the job
    await untilHibernated(sandboxes);
  });

  itInFull('SB156: makes room for another', async () => {
    const { sandboxes } = await open({ idleMs: 600_000, maxLive: 1 });
    await run(await acquire(sandboxes), SET_UP);
    expect((await run(await acquire(sandboxes, 'b'), 'echo works')).output).toBe('works');
    expect((await sandboxes.record('a'))?.state).toBe('asleep');
  });

  itInFull('SB156: an action that comes while it hibernates is not lost and runs once', async () => {
    const { host, sandboxes } = await open({ idleMs: 50 });
    for (let i = 0; i < TIMES; i += 1) {
      const runtime = await acquire(sandboxes);
      const result = await runtime.execute(runAction(runtime, `echo ${i} >> count`), { signal: never });
      if (result.outcome !== 'observed') await run(await acquire(sandboxes), `echo ${i} >> count`); // as the engine does after "not started"
      expect(result.outcome).not.toBe('unknown');
    }
    await run(await acquire(sandboxes), 'true');
    expect(readFileSync(join(host.workspace, 'count'), 'utf8').trim().split('\n')).toHaveLength(TIMES);
  });

  itInFull('SB157: the host’s program is killed while it hibernates: it is restored where it was', async () => {
    const { host, sandboxes } = await open({ idleMs: 200 });
    await run(await acquire(sandboxes), SET_UP);
    await untilHibernated(sandboxes);
    await host.kill();
    await host.start();
    expect(await look(await acquire(sandboxes))).toEqual(AS_IT_WAS);
  });

  itInFull('SB157: the host has lost what it stored: the next observation says so, once', async () => {
    const { host, sandboxes } = await open({ idleMs: 200 });
    await run(await acquire(sandboxes), SET_UP);
    await untilHibernated(sandboxes);
    await host.kill();
    rmSync(join(host.folder, 'home'), { recursive: true });
    await host.start();
    const runtime = await acquire(sandboxes);
    const suffixOf = async (command: string): Promise<string> => {
      const result = await runtime.execute(runAction(runtime, command), { signal: never });
      if (result.outcome !== 'observed' || result.observation.observation !== 'run') throw new Error(JSON.stringify(result));
      return result.observation.extras.metadata.suffix;
    };
    expect(await suffixOf('echo "${STORED-gone}"')).toContain(
      '[The host of the sandbox has lost what it stored: variables and working directory',
    );
    expect(await suffixOf('true')).not.toContain('lost');
    await sandboxes.runtimes.stop('a'); // somebody wanted it to be gone
    const next = await acquire(sandboxes);
    expect(JSON.stringify(await next.execute(runAction(next, 'true'), { signal: never })).includes('lost')).toBe(false);
  });

  it.each(someOf([0, 40, 80, 140], [40, 140]))(
    'SB157: the host’s program killed %d ms into hibernating: nothing is lost or done twice',
    async (afterMs) => {
      const { host, sandboxes } = await open({ idleMs: 100 });
      const first = await acquire(sandboxes);
      await run(first, `${SET_UP} && echo once >> ../count`);
      await delay(afterMs); // where in hibernating it is hit is the point: any moment will do
      await host.kill();
      await host.start();
      const runtime = await acquire(sandboxes);
      const seen = await runtime.execute(runAction(runtime, LOOK), { signal: never, isFresh: true });
      expect(seen.outcome).not.toBe('unknown'); // what was not started is sent again by the engine
      const content = seen.outcome === 'observed' ? seen.observation.content : (await run(await acquire(sandboxes), LOOK)).output;
      expect(content.trim().split(/\r?\n/)).toEqual(AS_IT_WAS);
      expect(readFileSync(join(host.workspace, 'count'), 'utf8')).toBe('once\n');
    },
  );
});
