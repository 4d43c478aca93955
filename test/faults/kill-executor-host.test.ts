import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { type OutputChunk } from '@tendon/core';
import { Secret } from '@tendon/protocol/masking';
import { ExecutorHostProcess, type HostOptions } from '@tendon/testing/servers';
import { createRemoteDriver, type SandboxPoolOptions } from '@tendon/runtime';
import {
  createTestSandboxes,
  findProcesses,
  killPids,
  leftOf,
  never,
  run,
  runAction,
  type TestSandboxes,
  until,
} from '@tendon/runtime/testing';

/** A network between the server and the host, that can be cut: every connection through it breaks, and no new one is made. */
class Network {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(to: () => number) {
    this.#server = createServer((near) => {
      if (this.#isCut) return void near.destroy();
      const far = connect(to(), '127.0.0.1');
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => (near.destroy(), far.destroy(), this.#sockets.delete(socket)));
      }
      near.pipe(far).pipe(near);
    });
  }

  static async between(host: ExecutorHostProcess): Promise<Network> {
    const network = new Network(() => Number(host.url.port));
    await once(network.#server.listen(0, '127.0.0.1'), 'listening');
    return network;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as { port: number }).port}`);
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}

const GATED = 'echo began >> count; echo one; until test -e go; do sleep 0.02; done; echo two; echo ended >> count';

describe('sandboxes on another host', () => {
  let host: ExecutorHostProcess;
  let network: Network | undefined;
  let folder = '';
  const servers: TestSandboxes[] = [];

  async function open(options: HostOptions = {}, more: Partial<SandboxPoolOptions> = {}): Promise<TestSandboxes> {
    host = await ExecutorHostProcess.start(options);
    network = await Network.between(host);
    return server(more);
  }

  /** A server, or the next one after it: over the same records. */
  function server(more: Partial<SandboxPoolOptions> = {}): TestSandboxes {
    folder = folder || mkdtempSync(join(tmpdir(), 'tendon-far-'));
    const driver = createRemoteDriver({ url: network!.url, key: new Secret(host.key) });
    const one = createTestSandboxes(driver, { folder, workspaceOf: async () => ({ hostPath: '/workspace' }), ...more });
    servers.push(one);
    return one;
  }

  afterEach(async () => {
    for (const one of servers.splice(0)) await one.runtimes.close();
    network?.close();
    await host.remove();
    rmSync(folder, { recursive: true, force: true });
    folder = '';
  });

  const inside = (name: string): string => join(host.workspace, name);

  async function begin(sandboxes: TestSandboxes) {
    const runtime = await sandboxes.runtimes.acquire('a', { signal: never });
    const chunks: OutputChunk[] = [];
    const action = runAction(runtime, GATED);
    const running = runtime.execute(action, { signal: never, onOutput: (chunk) => chunks.push(chunk) });
    await until('the first output', () => chunks.some(({ text }) => text.includes('one')));
    return { runtime, action, running, chunks };
  }

  /** All processes of it, which must be there; the end of one is that of others, so each is killed if it still lives. */
  async function killExecutor(incarnation: string): Promise<void> {
    const find = (): readonly number[] => findProcesses(incarnation, 'cmdline');
    expect(find()).not.toEqual([]);
    await killPids(async () => find());
  }

  function expectOnce(chunks: readonly OutputChunk[]): void {
    const text = chunks.map((chunk) => chunk.text).join('');
    expect(text.replace(/\s+/g, ' ').trim()).toBe('one two');
    expect(readFileSync(inside('count'), 'utf8')).toBe('began\nended\n');
  }

  it('SB61: the host killed in mid action and started again: the action goes on, was run once, and its output comes once', async () => {
    const sandboxes = await open();
    const { runtime, running, chunks } = await begin(sandboxes);
    await host.kill();
    writeFileSync(inside('go'), '');
    await host.start();
    expect(await running).toMatchObject({
      outcome: 'observed',
      observation: { observation: 'run', extras: { metadata: { exit_code: 0 } } },
    });
    expectOnce(chunks);
    expect((await run(runtime, 'echo next')).output).toBe('next');
    expect((await sandboxes.runtimes.acquire('a', { signal: never })).incarnation).toBe(runtime.incarnation);
  });

  itInFull('SB61: the network cut in mid action and mended: the same', async () => {
    const sandboxes = await open();
    const { running, chunks } = await begin(sandboxes);
    network!.cut();
    writeFileSync(inside('go'), '');
    await until('the command to end', () => readFileSync(inside('count'), 'utf8').includes('ended'));
    network!.mend();
    expect(await running).toMatchObject({ outcome: 'observed' });
    expectOnce(chunks);
  });

  itInFull('SB61: host and executor killed: the outcome is unknown, nothing runs again, and the next action works', async () => {
    const sandboxes = await open();
    const { runtime, running } = await begin(sandboxes);
    await host.kill();
    await killExecutor(runtime.incarnation);
    await host.start();
    expect(await running).toMatchObject({ outcome: 'unknown' });
    await runtime.lost;
    const next = await sandboxes.runtimes.acquire('a', { signal: never });
    expect(next.incarnation).not.toBe(runtime.incarnation);
    expect((await run(next, 'cat count')).output).toBe('began');
    expect(leftOf(runtime.incarnation, host.stateRoot)).toEqual([]);
  });

  it('SB62: another server over the same records finds the sandbox, and what ran meanwhile', async () => {
    const first = await open();
    const { runtime, action, running } = await begin(first);
    await first.runtimes.close();
    const second = server({ records: first.records });
    expect(await second.runtimes.reconcile()).toEqual({ kept: 1, reaped: 0 });
    writeFileSync(inside('go'), '');
    const found = await second.runtimes.acquire('a', { signal: never });
    expect(found.incarnation).toBe(runtime.incarnation);
    expect(await found.execute(action, { signal: never })).toMatchObject({
      outcome: 'observed',
      observation: { extras: { metadata: { exit_code: 0 } } },
    });
    await running;
    expect(readFileSync(inside('count'), 'utf8')).toBe('began\nended\n');
  });

  it('SB63: a sandbox whose server never comes back ends by its lease, also when its host was killed too', async () => {
    const sandboxes = await open({}, { leaseSeconds: 3 });
    const { incarnation } = await sandboxes.runtimes.acquire('a', { signal: never });
    await sandboxes.runtimes.close();
    await host.kill();
    await until('the lease to run out', () => findProcesses(incarnation, 'cmdline').length === 0);
    await host.start();
    expect((await host.call(`/sandboxes/${incarnation}/alive`)).status).toBe(410);
    expect(leftOf(incarnation, host.stateRoot)).toEqual([]);
  });

  itInFull('SB63: while its server lives it does not', async () => {
    // Long enough for a busy machine to renew it in time.
    const sandboxes = await open({}, { leaseSeconds: 5 });
    const runtime = await sandboxes.runtimes.acquire('a', { signal: never });
    const other = await sandboxes.runtimes.acquire('b', { signal: never });
    await run(other, 'sleep 11');
    expect((await run(runtime, 'echo there')).output).toBe('there');
  });

  it('SB64: an incarnation is started once: a name that was used is found or gone, never begun again', async () => {
    const sandboxes = await open();
    const { incarnation } = await sandboxes.runtimes.acquire('a', { signal: never });
    const put = (body: object) =>
      host.call(`/sandboxes/${incarnation}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ lease_seconds: 60, ...body }),
      });
    expect((await put({ conversation_id: 'a' })).status).toBe(200);
    expect((await put({ conversation_id: 'b' })).status).toBe(410);
    await killExecutor(incarnation);
    await until('the host to notice', async () => (await host.call(`/sandboxes/${incarnation}`)).status === 410);
    expect((await put({ conversation_id: 'a' })).status).toBe(410);
    expect(findProcesses(incarnation, 'cmdline')).toEqual([]);
  });

  it('SB65: nothing of it is on the server; what was made for a conversation goes with it, and the key is in no record', async () => {
    const sandboxes = await open({ ownWorkspaces: true });
    const runtime = await sandboxes.runtimes.acquire('a', { signal: never });
    await run(runtime, 'echo stored > file; echo stored > ~/file');
    expect(existsSync(sandboxes.stateRoot)).toBe(false);
    expect(JSON.stringify(await sandboxes.record('a'))).not.toContain(host.key);
    const own = join(host.folder, 'home', 'executor', 'workspaces', 'a');
    await sandboxes.runtimes.stop('a');
    expect([readFileSync(join(own, 'file'), 'utf8'), leftOf(runtime.incarnation, host.stateRoot)]).toEqual(['stored\n', []]);
    const next = await sandboxes.runtimes.acquire('a', { signal: never });
    expect((await run(next, 'cat file; cat ~/file 2> /dev/null || echo no home')).output).toMatch(/^stored\s+no home$/);
    await sandboxes.runtimes.stop('a', { forGood: true });
    expect(existsSync(own)).toBe(false);
  });
});
