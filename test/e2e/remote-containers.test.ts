/** An executor host whose own driver is `docker`: everything that a container can do, from a server that has no engine. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isFull, itInFull } from '@tendon/testing';
import { type Runtime } from '@tendon/core';
import { Secret } from '@tendon/protocol/masking';
import { ExecutorHostProcess } from '@tendon/testing/servers';
import { createRemoteDriver, type SandboxPoolOptions } from '@tendon/runtime';
import {
  createTestSandboxes,
  execute,
  executorFolder,
  findProcesses,
  killPids,
  leftOf,
  never,
  run,
  type TestSandboxes,
  until,
} from '@tendon/runtime/testing';
import { containersOf, openEngine, type TestEngine } from '@tendon/runtime/testing/containers';
import { describeDriver } from '@tendon/runtime/testing/driver-contract';

const engine: TestEngine = await openEngine('docker');
afterAll(() => engine.close());

function startHost(): Promise<ExecutorHostProcess> {
  executorFolder();
  const environment = { DOCKER_HOST: engine.host, SANDBOX_BASE_CONTAINER_IMAGE: engine.image('bookworm'), SANDBOX_PULL: 'never' };
  return ExecutorHostProcess.start({ driver: 'docker', environment });
}

const driverOf = (host: ExecutorHostProcess) => createRemoteDriver({ url: host.url, key: new Secret(host.key) });
const remains = (host: ExecutorHostProcess, incarnation: string): readonly string[] => [
  ...leftOf(incarnation, host.stateRoot),
  ...containersOf(engine, incarnation),
];

let contractHost: ExecutorHostProcess | undefined;
// Daily on `remote` and on `docker`, each by itself.
if (isFull())
  describeDriver('remote, with containers', {
    async make() {
      contractHost ??= await startHost();
      return driverOf(contractHost);
    },
    workspacePath: () => '/workspace',
    workspaceFolder: () => contractHost!.workspace,
    async killExecutor({ url = '' }) {
      await killPids(async () => findProcesses(url.slice(url.lastIndexOf('/') + 1), 'cmdline'));
    },
    leftOf: async (incarnation) => remains(contractHost!, incarnation),
    close: () => contractHost!.remove(),
  });

describe('containers on another host', () => {
  let host: ExecutorHostProcess;
  beforeAll(async () => {
    host = await startHost();
  });
  afterAll(() => host.remove());

  function open(idlePlan: SandboxPoolOptions['idlePlan'] = {}): TestSandboxes {
    const sandboxes = createTestSandboxes(driverOf(host), { idlePlan });
    onTestFinished(() => sandboxes.close());
    return sandboxes;
  }
  const acquire = ({ runtimes }: TestSandboxes, id: string): Promise<Runtime> => runtimes.acquire(id, { signal: never });
  const untilSuspended = (sandboxes: TestSandboxes, id: string): Promise<void> =>
    until(`${id} to be suspended`, async () =>
      (await sandboxes.runtimes.list()).some((one) => one.conversation_id === id && one.state === 'asleep'),
    );

  it('SB160: has the strength of a container, and its files belong to the owner of the workspace', async () => {
    const runtime = await acquire(open(), 'strength');
    expect(runtime.strength).toBe('container');
    expect((await run(runtime, 'echo x > made; stat -c %u /')).output).not.toBe('0');
    expect(readFileSync(join(host.workspace, 'made'), 'utf8')).toBe('x\n');
  });

  itInFull('SB160: is suspended in its place, with what runs in the background, and goes on where it was', async () => {
    const sandboxes = open({ idleMs: 100 });
    const first = await acquire(sandboxes, 'sleeper');
    await run(first, 'plain=stored; echo x > ~/file; mkfifo pipe; (read -r line < pipe; echo "$line" > got) &');
    await untilSuspended(sandboxes, 'sleeper');
    const woken = await acquire(sandboxes, 'sleeper');
    expect(woken.incarnation).toBe(first.incarnation);
    const seen = await run(woken, 'echo "$plain $(cat ~/file) $(jobs -r | wc -l)"; echo heard > pipe');
    expect(seen.output).toContain('stored x 1');
    const got = join(host.workspace, 'got');
    await until('the background process', () => existsSync(got) && readFileSync(got, 'utf8') === 'heard\n');
  });

  itInFull('SB160: goes on while the host’s program is killed, and nothing runs twice', async () => {
    const sandboxes = open();
    const runtime = await acquire(sandboxes, 'killed-host');
    const running = execute(runtime, 'echo began >> count; until test -e go; do sleep 0.02; done; echo ended');
    await until('the command to begin', () => existsSync(join(host.workspace, 'count')));
    await host.kill();
    await host.start();
    writeFileSync(join(host.workspace, 'go'), '');
    expect(await running).toMatchObject({ outcome: 'observed', observation: { content: 'ended' } });
    expect(readFileSync(join(host.workspace, 'count'), 'utf8')).toBe('began\n');
  });

  itInFull('SB160: a stop leaves no container there, also of one that is suspended', async () => {
    const sandboxes = open({ idleMs: 100 });
    const runtime = await acquire(sandboxes, 'stopped');
    await run(runtime, 'sleep 1000 &');
    await untilSuspended(sandboxes, 'stopped');
    expect(containersOf(engine, runtime.incarnation)).toHaveLength(1);
    await sandboxes.runtimes.stop('stopped');
    expect(remains(host, runtime.incarnation)).toEqual([]);
  });
});
