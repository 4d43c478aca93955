import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { itInFull, someOf } from '@tendon/testing';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { ExecutorFolder } from '../drivers/start/executor-folder.ts';
import { createLocalDriver } from '../drivers/local/local-driver.ts';
import { isAlive } from '../processes/process-identity.ts';
import {
  anchorOf,
  createTestSandboxes,
  execute,
  executorFolder,
  leftOf,
  never,
  run,
  runAction,
  until,
  wallClock,
  type TestSandboxes,
  SANDBOX_TEST_MS,
} from '../testing/sandboxes.ts';
import type { SandboxPoolOptions } from './sandbox-pool.ts';

vi.setConfig({ testTimeout: SANDBOX_TEST_MS });

let executor: ExecutorFolder;
let sandboxes: TestSandboxes;
const folders: string[] = [];

beforeAll(() => {
  executor = executorFolder();
});
afterEach(async () => {
  await sandboxes.close();
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

function open(options: Partial<SandboxPoolOptions> = {}, driver: SandboxDriver = createLocalDriver({ executor })): TestSandboxes {
  sandboxes = createTestSandboxes(driver, options);
  return sandboxes;
}

/** An executor that is there at first, and ends when it is asked for anything else. */
const ANSWERS_ONCE = `import http from 'node:http';
  const { endpoint: { socketPath }, incarnation } = JSON.parse(process.argv[3]);
  http.createServer((request, response) => {
    if (request.url === '/alive') return response.end(JSON.stringify({ status: 'ok', incarnation, pid: 1, protocol: [1, 1000] }));
    console.error('the journal is full');
    process.exit(3);
  }).listen(socketPath);`;

/** An executor that is this program. */
async function program(text: string): Promise<SandboxDriver> {
  const folder = await mkdtemp(join(tmpdir(), 'tendon-program-'));
  folders.push(folder);
  await writeFile(join(folder, 'main.mjs'), text);
  return createLocalDriver({ executor: { ...executor, folder, entry: 'main.mjs' } });
}

async function incarnationOf(id: string): Promise<string> {
  return (await sandboxes.record(id))?.incarnation ?? '';
}

describe('a start that fails', () => {
  itInFull('SB25: names the phase, the cause and the last lines, and leaves nothing', async () => {
    const { runtimes, stateRoot } = open({}, await program('console.error("no journal today"); process.exit(3);'));
    // A program that ends at once may do so before or after its start is reported.
    await expect(runtimes.acquire('a', { signal: never })).rejects.toThrow(
      /did not start \((?:waiting for the executor\): its process ended|creating the process\): no journal today)\nIt printed last:\nno journal today/,
    );
    expect(leftOf(await incarnationOf('a'), stateRoot)).toEqual([]);
    expect(await sandboxes.record('a')).toMatchObject({ state: 'ended' });
  });

  it('SB532: an executor that ends by itself later leaves its last lines in the log', async () => {
    const { runtimes, notices, stateRoot } = open({}, await program(ANSWERS_ONCE));
    const runtime = await runtimes.acquire('a', { signal: never });
    const reason = await runtime.lost;
    const line = `sandbox ${runtime.incarnation} of conversation a ended and printed last:\nthe journal is full`;
    await until('the log to show it', () => notices.includes(line));
    expect(notices).toContain(`sandbox ${runtime.incarnation} of conversation a: ${reason}`);
    await runtimes.stop('a');
    expect(leftOf(runtime.incarnation, stateRoot)).toEqual([]);
  });

  itInFull('SB25: an executor that answers by another name is not taken', async () => {
    const impostor = `import http from 'node:http';
      const { endpoint: { socketPath } } = JSON.parse(process.argv[3]);
      http.createServer((q, r) => r.end('{"status":"ok","incarnation":"impostor","pid":1}')).listen(socketPath);`;
    const { runtimes } = open({}, await program(impostor));
    await expect(runtimes.acquire('a', { signal: never })).rejects.toThrow(/another executor answers/);
  });

  it('SB25: a conversation that does not exist has no sandbox', async () => {
    const { runtimes } = open({ workspaceOf: async () => undefined });
    await expect(runtimes.acquire('a', { signal: never })).rejects.toThrow(/finding the workspace\): there is no such conversation/);
    expect(runtimes.current('a')).toBeUndefined();
  });

  it('SB25: what the driver cannot have is reported with its fix', async () => {
    const driver: SandboxDriver = {
      ...createLocalDriver({ executor }),
      probe: async () => ({ available: false, reason: 'bubblewrap is not installed', fix: 'Install it: apt install bubblewrap.' }),
    };
    const { runtimes } = open({}, driver);
    await expect(runtimes.acquire('a', { signal: never })).rejects.toThrow(/bubblewrap is not installed. Install it: apt/);
  });

  itInFull('SB25: a record that cannot be written is a failed start that leaves nothing', async () => {
    const { runtimes, records, stateRoot } = open();
    const put = records.put.bind(records);
    const broken = {
      get: records.get.bind(records),
      list: records.list.bind(records),
      delete: records.delete.bind(records),
      update: records.update.bind(records),
      rename: records.rename.bind(records),
      watch: records.watch.bind(records),
    };
    let incarnation = '';
    const failing = createTestSandboxes(createLocalDriver({ executor }), {
      records: {
        ...broken,
        async put(collection, record) {
          const value = record.value as { readonly state: string; readonly incarnation: string };
          incarnation = value.incarnation;
          if (value.state === 'live') throw new Error('the disk is full');
          await put(collection, record);
        },
      },
    });
    await expect(failing.runtimes.acquire('a', { signal: never })).rejects.toThrow(/recording it\): the disk is full/);
    expect(leftOf(incarnation, failing.stateRoot)).toEqual([]);
    await failing.close();
    expect(runtimes.current('a')).toBeUndefined();
    expect(leftOf(incarnation, stateRoot)).toEqual([]);
  });
});

describe('sandboxes of a server', () => {
  it('SB2: a caller that gives up ends neither the start nor the wait of the others', async () => {
    const { runtimes } = open();
    const impatient = new AbortController();
    const first = runtimes.acquire('a', { signal: impatient.signal });
    const second = runtimes.acquire('a', { signal: never });
    impatient.abort(new Error('not any more'));
    await expect(first).rejects.toThrow('not any more');
    expect((await run(await second, 'echo works')).output).toBe('works');
  });

  itInFull('SB16: a stop in mid start leaves nothing, and the next acquire starts anew', async () => {
    const { runtimes, stateRoot } = open();
    const phases: string[] = [];
    const start = runtimes.acquire('a', { signal: never, onPhase: (phase) => phases.push(phase) }).catch(String);
    await until('the process to be there', () => phases.includes('started'));
    const incarnation = await incarnationOf('a');
    await runtimes.stop('a');
    expect(await start).toMatch(/stopped/);
    expect(leftOf(incarnation, stateRoot)).toEqual([]);
    expect((await run(await runtimes.acquire('a', { signal: never }), 'echo works')).output).toBe('works');
  });

  it('SB16: a command that runs while its sandbox is stopped has an unknown outcome', async () => {
    const { runtimes } = open();
    const runtime = await runtimes.acquire('a', { signal: never });
    const running = execute(runtime, 'touch began; sleep 1000');
    await until('the command to begin', async () => (await runtime.files.list('.', { signal: never })).includes('began'));
    await runtimes.stop('a');
    expect(await running).toMatchObject({ outcome: 'unknown', reason: expect.stringContaining('stopped') });
  });

  itInFull('SB5: the private home outlives an incarnation, not a stop', async () => {
    const { runtimes, handle } = open();
    const first = await runtimes.acquire('a', { signal: never });
    await run(first, 'echo here > ~/file');
    process.kill(anchorOf(await handle('a')).pid, 'SIGKILL');
    expect(await first.lost).toMatch(/ended/);
    expect((await run(await runtimes.acquire('a', { signal: never }), 'cat ~/file')).output).toBe('here');
    await runtimes.stop('a');
    expect((await run(await runtimes.acquire('a', { signal: never }), 'ls -A ~')).output).not.toContain('file');
  });

  it('SB32: without a server and with nothing to do a sandbox ends by its lease', async () => {
    const { runtimes, handle } = open({ leaseSeconds: 2 });
    await runtimes.acquire('a', { signal: never });
    const anchor = anchorOf(await handle('a'));
    await runtimes.close();
    await until('the lease to run out', () => !isAlive(anchor));
    await expect(runtimes.acquire('a', { signal: never })).rejects.toThrow('shutting down');
  });

  itInFull('SB32: while a server holds it, it does not', async () => {
    // Long enough for a busy machine to renew it in time.
    const { runtimes, handle } = open({ leaseSeconds: 5 });
    const runtime = await runtimes.acquire('a', { signal: never });
    const other = await runtimes.acquire('b', { signal: never });
    await run(other, 'sleep 7');
    expect(isAlive(anchorOf(await handle('a')))).toBe(true);
    expect(runtimes.current('a')).toBe(runtime);
  });

  itInFull('SB24: sandboxes whose whole state root was removed are ended by the next server of this user', async () => {
    const forgotten = createTestSandboxes(createLocalDriver({ executor }));
    const { incarnation } = await forgotten.runtimes.acquire('a', { signal: never });
    await forgotten.runtimes.close();
    await rm(forgotten.folder, { recursive: true });
    await open().runtimes.reconcile();
    expect(leftOf(incarnation, forgotten.stateRoot)).toEqual([]);
  });

  itInFull('SB162: a workspace that is removed ends the sandbox, and the next one has what is put in its place', async () => {
    const { runtimes, workspace } = open();
    const first = await runtimes.acquire('a', { signal: never });
    await run(first, 'echo old > file');
    await rm(workspace, { recursive: true });
    await expect(runtimes.acquire('a', { signal: never })).rejects.toThrow(`${workspace} is not there any more: put it back, or make it`);
    expect(await first.lost).toBe('the folder of its workspace was removed');
    await mkdir(workspace);
    await writeFile(join(workspace, 'file'), 'new');
    const next = await runtimes.acquire('a', { signal: never });
    expect((await run(next, 'cat file; echo made > other')).output).toBe('new');
    expect(await readFile(join(workspace, 'other'), 'utf8')).toBe('made\n');
  });

  it.each(someOf([-3_600_000, 0, 3_600_000], [3_600_000]))(
    'SB166: an action of the server before is cancelled by a stop, and not called not started, with the clock moved by %d ms',
    async (offsetMs) => {
      let offset = 0;
      const clock = { ...wallClock, now: () => new Date(Date.now() + offset) };
      const { runtimes, workspace, restart } = open({ clock });
      const first = await runtimes.acquire('a', { signal: never });
      const action = runAction(first, 'touch began; until test -e go; do sleep 0.02; done; echo ran > marker', {
        timeout: 60,
        timestamp: clock.now().toISOString(),
      });
      void first.execute(action, { signal: never, isFresh: true });
      await until('the command to begin', () => existsSync(join(workspace, 'began')));
      const next = await restart();
      offset = offsetMs;
      const second = await next.acquire('a', { signal: never });
      const result = await second.execute(action, { signal: AbortSignal.abort() });
      expect(result).toMatchObject({ outcome: 'observed', observation: { observation: 'run' } });
      await writeFile(join(workspace, 'go'), '');
      expect((await run(second, 'true')).exitCode).toBe(0);
      expect(existsSync(join(workspace, 'marker'))).toBe(false);
    },
  );

  itInFull('SB4: many starts at once all succeed', async () => {
    const { runtimes } = open();
    const all = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => runtimes.acquire(id, { signal: never })));
    expect(new Set(all.map(({ incarnation }) => incarnation)).size).toBe(5);
  });
});
