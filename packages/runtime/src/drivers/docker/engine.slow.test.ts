import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { createTestSandboxes, execute, executorFolder, leftOf, never, run, until, type TestSandboxes } from '../../testing/sandboxes.ts';
import type { DockerDriverOptions } from './docker-driver-options.ts';
import { createDockerDriver } from './docker-driver.ts';
import { containersOf } from '../../testing/containers/docker-under-test.ts';
import { CACHE, OTHER_RUNTIME, openEngine } from '../../testing/containers/open-engine.ts';
import { imageTar } from '../../testing/containers/images.ts';
import { tinyRegistry } from '../../testing/containers/tiny-registry.ts';

const engine = await openEngine('docker');
afterAll(() => engine.close());
let sandboxes: TestSandboxes | undefined;
afterEach(() => sandboxes?.close());

function open(options: Partial<DockerDriverOptions> = {}): TestSandboxes {
  const driver = createDockerDriver({ executor: executorFolder(), host: engine.host, image: engine.image('busybox'), ...options });
  sandboxes = createTestSandboxes(driver);
  return sandboxes;
}

itInFull('SB45: an image that is missing is pulled, and the progress is shown', async () => {
  const registry = await tinyRegistry(imageTar('busybox', CACHE), process.arch === 'x64' ? 'amd64' : process.arch);
  try {
    const progress: string[] = [];
    const { runtimes } = open({ image: registry.image });
    const runtime = await runtimes.acquire('pulled', { signal: never, onPhase: (_phase, detail) => detail && progress.push(detail) });
    expect((await run(runtime, 'echo here')).output).toBe('here');
    expect(progress[0]).toBe(`pulling ${registry.image}`);
    expect(progress.slice(1).every((text) => / \d+ of \d+ MiB$/.test(text))).toBe(true);
    await runtimes.stop('pulled');
  } finally {
    registry.close();
    engine.command('rmi', registry.image);
  }
});

itInFull('SB45: a start that cannot be says why in one line, what to do, and leaves nothing', async () => {
  const failure = async (options: Partial<DockerDriverOptions>): Promise<string> => {
    const opened = open(options);
    const message = await opened.runtimes.acquire('none', { signal: never }).then(
      () => 'it started',
      (error: Error) => error.message,
    );
    const { incarnation } = (await opened.record('none')) ?? {};
    const left = incarnation === undefined ? [] : [...leftOf(incarnation, opened.stateRoot), ...containersOf(engine, incarnation)];
    expect(left).toEqual([]);
    await opened.close();
    return message;
  };
  expect(await failure({ image: 'tendon-test/missing', mayPull: false })).toMatch(
    /getting the image.*no such image.*SANDBOX_PULL=never.*Check the name/,
  );
  expect(await failure({ ociRuntime: 'runsc-of-nobody' })).toMatch(
    new RegExp(`probing the machine.*no runtime runsc-of-nobody, only .*${OTHER_RUNTIME}.*daemon.json`),
  );
  expect(await failure({ host: '/run/tendon-none.sock' })).toMatch(/probing the machine.*does not answer.*Start it/);
  const registry = await tinyRegistry(imageTar('bare', CACHE), process.arch === 'x64' ? 'arm64' : 'amd64');
  try {
    expect(await failure({ image: registry.image })).toMatch(/creating the process.*another kind of processor.*Choose an image/);
    expect(await failure({ image: registry.image.replace(':latest', ':other') })).toMatch(/getting the image.*no such image/);
    engine.command('rmi', registry.image);
  } finally {
    registry.close();
  }
});

itInFull('SB432: containers run by the runtime that is configured, and the strength names it', async () => {
  const { runtimes, handle } = open({ ociRuntime: OTHER_RUNTIME });
  const runtime = await runtimes.acquire('other', { signal: never });
  expect((await run(runtime, 'echo here')).output).toBe('here');
  expect(runtime.description).toContain(`(${engine.image('busybox')}) with ${OTHER_RUNTIME}, `);
  const { container = '' } = await handle('other');
  expect(engine.command('inspect', '--format', '{{.HostConfig.Runtime}}', container).trim()).toBe(OTHER_RUNTIME);
});

it.each([
  ['while it starts', "console.error('no journal today'); process.exit(3);"],
  [
    'later',
    `import http from 'node:http';
    const { endpoint: { socketPath }, incarnation } = JSON.parse(process.argv[3]);
    http.createServer((request, response) => {
      if (request.url === '/alive') return response.end(JSON.stringify({ status: 'ok', incarnation, pid: 1, protocol: [1, 1000] }));
      console.error('no journal today');
      process.exit(3);
    }).listen(socketPath);`,
  ],
])('SB532: what an executor in a container printed before it ended %s is in the log', async (_when, program) => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-program-'));
  writeFileSync(join(folder, 'main.mjs'), program);
  const { runtimes, notices } = open({ executor: { ...executorFolder(), folder } });
  await runtimes.acquire('short', { signal: never }).catch((error: Error) => notices.push(error.message));
  await expect.poll(() => notices.join('\n')).toContain('printed last:\nno journal today');
  rmSync(folder, { recursive: true });
});

it('SB46: the engine killed in mid command: the command ends, the next works, and what the engine owes is made good', async () => {
  const { runtimes, workspace, handle } = open();
  const runtime = await runtimes.acquire('one', { signal: never });
  const stopped = await runtimes.acquire('stopped', { signal: never });
  const running = execute(runtime, 'touch began; until test -e go; do sleep 0.05; done; echo went on');
  await until('the command to begin', () => existsSync(join(workspace, 'began')));
  await engine.kill();
  try {
    writeFileSync(join(workspace, 'go'), '');
    expect(await running).toMatchObject({ outcome: 'observed', observation: { content: 'went on' } });
    expect((await run(runtime, 'echo next')).output).toBe('next');
    await expect(runtimes.acquire('two', { signal: never })).rejects.toThrow(/does not answer.*Start it/);
    const { anchor } = await handle('stopped');
    await runtimes.stop('stopped');
    expect(existsSync(`/proc/${anchor?.pid}/root`)).toBe(false);
  } finally {
    rmSync(join(workspace, 'go'), { force: true });
    await engine.start();
  }
  const next = await runtimes.acquire('one', { signal: never });
  expect((await run(next, 'echo back')).output).toBe('back');
  await runtimes.acquire('two', { signal: never });
  expect(containersOf(engine, stopped.incarnation)).toEqual([]);
});

it('SB47: containers without a record or a folder are ended by their labels, those of others are not', async () => {
  const first = open();
  const runtime = await first.runtimes.acquire('lost', { signal: never });
  const { socketPath = '' } = await first.handle('lost');
  await first.records.delete('sandboxes', 'lost');
  for (const folder of [first.stateRoot, join(socketPath, '../..')]) rmSync(folder, { recursive: true });
  const foreign = engine
    .command(
      'run',
      '--detach',
      '--network=none',
      '--label',
      'dev.tendon.incarnation=theirs',
      '--label',
      'dev.tendon.owner=/nowhere',
      // As from an image's own labels: no name that this server gives.
      '--label',
      `dev.tendon.uid=${process.getuid?.()}`,
      engine.image('busybox'),
      'sleep',
      '1000',
    )
    .trim();
  const second = open();
  await second.runtimes.reconcile();
  expect(containersOf(engine, runtime.incarnation)).toEqual([]);
  expect(containersOf(engine, 'theirs')).toEqual([`container ${foreign.slice(0, 12)}`]);
  engine.command('rm', '--force', foreign);
  await first.close();
});
