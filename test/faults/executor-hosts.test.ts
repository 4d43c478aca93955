/** Several executor hosts of one server: where new conversations go, and what becomes of those whose host is away, full, drained or no more. */
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import type { Runtime } from '@tendon/core';
import { ACTIONS } from '@tendon/protocol';
import { Secret } from '@tendon/protocol/masking';
import { createRemoteDriver, type SandboxPoolOptions, type SandboxRecord } from '@tendon/runtime';
import { createTestSandboxes, never, observe, run, runAction, until, type TestSandboxes } from '@tendon/runtime/testing';
import { ExecutorHostProcess, type HostOptions } from '@tendon/testing/servers';

const GATED = 'echo began >> count; until test -e go; do sleep 0.02; done; echo ended >> count; echo done';

describe('several executor hosts', () => {
  const hosts: ExecutorHostProcess[] = [];
  const servers: TestSandboxes[] = [];
  let folder = '';

  async function start(...options: readonly HostOptions[]): Promise<readonly ExecutorHostProcess[]> {
    hosts.push(...(await Promise.all(options.map((one) => ExecutorHostProcess.start({ driver: 'none', ownWorkspaces: true, ...one })))));
    return hosts;
  }

  function server(of: readonly ExecutorHostProcess[] = hosts, more: Partial<SandboxPoolOptions> = {}): TestSandboxes {
    folder = folder || mkdtempSync(join(tmpdir(), 'tendon-hosts-'));
    const [first, ...others] = of.map(({ url, key }) => ({ url, key: new Secret(key) }));
    const workspaceOf = async () => ({ hostPath: '/workspace' });
    const one = createTestSandboxes(createRemoteDriver(first!, ...others), { folder, workspaceOf, ...more });
    servers.push(one);
    return one;
  }

  afterEach(async () => {
    for (const one of servers.splice(0)) await one.runtimes.close();
    for (const host of hosts.splice(0)) await host.remove();
    rmSync(folder, { recursive: true, force: true });
    folder = '';
  });

  const acquire = ({ runtimes }: TestSandboxes, id: string): Promise<Runtime> => runtimes.acquire(id, { signal: never });
  const addressOf = ({ url }: ExecutorHostProcess): string => url.href.replace(/\/$/, '');
  async function hostOf({ record }: TestSandboxes, id: string): Promise<ExecutorHostProcess> {
    const name = (await record(id))?.host?.name;
    return hosts.find((host) => addressOf(host) === name)!;
  }

  itInFull('SB1060: conversations that begin at the same time are spread, and each stays where its workspace is', async () => {
    await start({}, {}, {});
    const one = server();
    const ids = ['a', 'b', 'c'];
    const runtimes = await Promise.all(ids.map((id) => acquire(one, id)));
    expect(new Set(await Promise.all(ids.map((id) => hostOf(one, id)))).size).toBe(3);
    for (const [index, runtime] of runtimes.entries()) await run(runtime, `echo ${ids[index]} > mine`);
    const before = await hostOf(one, 'b');
    await one.runtimes.stop('b');
    const second = server(hosts.toReversed(), { records: one.records });
    expect((await run(await acquire(second, 'b'), 'cat mine')).output).toBe('b');
    expect(await hostOf(second, 'b')).toBe(before);
  });

  it('SB1061: a host that is full is passed over; when all are, the start says so of each', async () => {
    const full = { environment: { SANDBOX_MAX_LIVE: '1' } };
    await start(full, full);
    const one = server();
    await acquire(one, 'a');
    await acquire(one, 'b');
    const [first, second] = await Promise.all([hostOf(one, 'a'), hostOf(one, 'b')]);
    expect(first).not.toBe(second);
    const refused = acquire(one, 'c');
    for (const host of hosts) await expect(refused).rejects.toThrow(`${addressOf(host)}: it is full (1 of 1 sandboxes)`);
    await one.runtimes.stop('a');
    await acquire(one, 'c');
    expect(await hostOf(one, 'c')).toBe(first);
  });

  it('SB1062: a host is killed in mid action: new conversations go to others, and its own go on when it is back', async () => {
    await start({}, {});
    const one = server();
    const runtime = await acquire(one, 'a');
    const action = runAction(runtime, GATED, { timeout: 600 });
    let isSeen = false;
    const onOutput = (): void => void (isSeen = true);
    const running = runtime.execute({ ...action, args: { ...action.args, command: `echo seen; ${GATED}` } } as typeof action, {
      signal: never,
      isFresh: true,
      onOutput,
    });
    await until('the command to begin', () => isSeen);
    const away = await hostOf(one, 'a');
    await away.kill('SIGKILL');
    for (const id of ['b', 'c']) {
      expect((await run(await acquire(one, id), 'echo works')).output).toBe('works');
      expect(await hostOf(one, id)).not.toBe(away);
    }
    await one.runtimes.close();
    const second = server(hosts, { records: one.records });
    await expect(acquire(second, 'a')).rejects.toThrow(`nothing answers at ${addressOf(away)}`);
    await away.start();
    const found = await acquire(second, 'a');
    expect(found.incarnation).toBe(runtime.incarnation);
    await found.files.write('go', Buffer.from(''), { signal: never });
    expect(await running).toMatchObject({ outcome: 'observed' });
    expect((await run(found, 'cat count')).output).toBe('began\nended');
  });

  itInFull(
    'SB1063: a host that is drained takes no new conversation, also after a restart, and goes on with those that it has',
    async () => {
      await start({}, {});
      const driver = createRemoteDriver(
        { url: hosts[0]!.url, key: new Secret(hosts[0]!.key) },
        { url: hosts[1]!.url, key: new Secret(hosts[1]!.key) },
      );
      const one = server();
      await acquire(one, 'a');
      const drained = await hostOf(one, 'a');
      await driver.remote!.drain!(addressOf(drained), true);
      await drained.kill();
      await drained.start();
      for (const id of ['b', 'c', 'd']) {
        await acquire(one, id);
        expect(await hostOf(one, id)).not.toBe(drained);
      }
      await one.runtimes.stop('a');
      expect((await run(await acquire(one, 'a'), 'echo works')).output).toBe('works');
      expect(await hostOf(one, 'a')).toBe(drained);
      const state = async () => (await driver.remote!.hosts!()).find(({ address }) => address === addressOf(drained));
      expect(await state()).toMatchObject({ refuses: 'it is being drained', isThere: true, capacity: { draining: true, sandboxes: 1 } });
      const direct = await drained.call(`/sandboxes/${'e'.repeat(16)}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ conversation_id: 'e', lease_seconds: 60 }),
      });
      expect([direct.status, await direct.text()]).toEqual([503, expect.stringContaining('is being drained')]);
      await driver.remote!.drain!(`${addressOf(drained)}/`, false);
      expect(await state()).toMatchObject({ refuses: undefined });
      await expect(driver.remote!.drain!('http://127.0.0.1:1', true)).rejects.toThrow('is none of the hosts that are configured');
    },
  );

  it('SB1063: a host that is drained between the choice of it and the start gets no conversation by that', async () => {
    await start({}, {});
    const [first, ...others] = hosts.map(({ url, key }) => ({ url, key: new Secret(key) }));
    const driver = createRemoteDriver(first!, ...others);
    let drained: string | undefined;
    const startDrained: typeof driver.start = async (spec, options) => {
      if (drained === undefined) await driver.remote!.drain!((drained = spec.host!), true);
      return driver.start(spec, options);
    };
    folder = mkdtempSync(join(tmpdir(), 'tendon-hosts-'));
    const drains = Object.assign(Object.create(driver) as typeof driver, { start: startDrained });
    const one = createTestSandboxes(drains, { folder, workspaceOf: async () => ({ hostPath: '/workspace' }) });
    servers.push(one);
    expect((await run(await acquire(one, 'a'), 'echo works')).output).toBe('works');
    expect(addressOf(await hostOf(one, 'a'))).not.toBe(drained);
  });

  itInFull('SB1064: a conversation whose host is configured no more gets a sandbox on another, which says what is lost', async () => {
    await start({}, {});
    const one = server();
    const runtime = await acquire(one, 'a');
    await run(runtime, 'echo stored > file');
    const before = await hostOf(one, 'a');
    await one.runtimes.close();
    const second = server(
      hosts.filter((host) => host !== before),
      { records: one.records },
    );
    expect(await second.runtimes.reconcile()).toEqual({ kept: 1, reaped: 0 });
    const next = await acquire(second, 'a');
    expect(await hostOf(second, 'a')).not.toBe(before);
    const seen = await observe(next, { ...ACTIONS.run.create({ command: 'ls' }), timeout: 60 });
    expect(JSON.stringify(seen)).toContain(`is on ${addressOf(before)}, which is no host of this server any more`);
    expect(seen.content).not.toContain('file');
  });

  it('SB1064: a record that names no host is of the first one', async () => {
    await start({}, {});
    const one = server();
    await run(await acquire(one, 'a'), 'echo stored > file');
    const before = await hostOf(one, 'a');
    await one.runtimes.stop('a');
    const { host: _host, ...old } = (await one.record('a'))! as SandboxRecord;
    await one.records.put('sandboxes', { id: 'a', sort: old.started_at, value: old });
    const second = server([before, ...hosts.filter((host) => host !== before)], { records: one.records });
    expect((await run(await acquire(second, 'a'), 'cat file')).output).toBe('stored');
  });

  itInFull('RT905: a host refuses what an earlier owner asks of a sandbox, and gives the new one what runs', async () => {
    const [host] = (await start({})) as [ExecutorHostProcess];
    const owners = (epoch: number) => ({ owners: { has: () => true, mayTouch: async () => true, epochOf: () => epoch } });
    const zombie = server(hosts, owners(4));
    const runtime = await acquire(zombie, 'a');
    const owner = server(hosts, { records: zombie.records, ...owners(5) });
    const found = await acquire(owner, 'a');
    expect(found.incarnation).toBe(runtime.incarnation);
    const path = `/sandboxes/${runtime.incarnation}`;
    const ask = (method: string, at: string, body?: object, epoch = '4') =>
      host
        .call(at, {
          method,
          headers: { ...(body && { 'content-type': 'application/json' }), 'x-owner-epoch': epoch },
          ...(body && { body: JSON.stringify(body) }),
        })
        .then(({ status }) => status);
    expect(await runtime.execute(runAction(runtime, 'touch late'), { signal: never, isFresh: true })).toMatchObject({ outcome: 'fenced' });
    await until('the host to know the owner', async () => (await ask('POST', `${path}/sleep`, {})) === 412);
    const start4 = { conversation_id: 'a', lease_seconds: 60 };
    expect(await ask('PUT', `/sandboxes/${'e'.repeat(16)}`, start4)).toBe(412);
    expect(await ask('PUT', `${path}/network`, { mode: 'full' })).toBe(412);
    expect(await ask('DELETE', path)).toBe(412);
    expect(await ask('DELETE', '/conversations/a?workspace=true')).toBe(412);
    expect(await ask('PUT', `${path}/files?path=late`, {})).toBe(412);
    expect([await ask('GET', path), await ask('POST', `${path}/list_files`, { path: '' })]).toEqual([200, 200]);
    expect(await ask('GET', path, undefined, 'none')).toBe(400);
    const headers = { connection: 'Upgrade', upgrade: 'tcp', 'x-owner-epoch': 4, 'x-session-api-key': host.key };
    const outgoing = httpRequest(new URL(`${path}/shell`, host.url), { headers }).end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(412);
    response.resume();
    expect((await run(found, 'ls')).output).toBe('');
  });

  it('RT905: of owners that ask for a conversation at once the latest gets its sandbox, in whatever order they ask', async () => {
    const [host] = (await start({})) as [ExecutorHostProcess];
    const begin = (incarnation: string, epoch: number) =>
      host.call(`/sandboxes/${incarnation.repeat(16)}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', 'x-owner-epoch': String(epoch) },
        body: JSON.stringify({ conversation_id: 'a', lease_seconds: 60 }),
      });
    const asked = await Promise.all([begin('5', 5), ...[...'abcd'].map((name) => begin(name, 4))]);
    expect(asked[0]!.status).toBe(200);
    expect((await host.call(`/sandboxes/${'5'.repeat(16)}`)).status).toBe(200);
  });
});
