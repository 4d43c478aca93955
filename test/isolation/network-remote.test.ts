import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { Secret } from '@tendon/protocol/masking';
import { ExecutorHostProcess } from '@tendon/testing/servers';
import { createRemoteDriver } from '@tendon/runtime';
import { createTestSandboxes, executorFolder, type NetworkPolicy, never, run } from '@tendon/runtime/testing';
import { describeEgress } from './network/contract.ts';

let host: ExecutorHostProcess;
/** A place near the other host that its operator has opened. */
const opened = createServer((_request, response) => response.end('opened')).listen(0, '127.0.0.1');
await once(opened, 'listening');
const openedPlace = `127.0.0.1:${(opened.address() as AddressInfo).port}`;
const driverFor = (at: ExecutorHostProcess) => createRemoteDriver({ url: at.url, key: new Secret(at.key) });

describeEgress(
  'remote',
  {
    async make() {
      executorFolder();
      host = await ExecutorHostProcess.start({ environment: { SANDBOX_NETWORK_ALLOW_PRIVATE: openedPlace } });
      return driverFor(host);
    },
    async close() {
      await host.remove();
      opened.close();
    },
  },
  (under) => {
    const ask = (place: string) => under().inside(`curl -sS -m 20 --noproxy '' http://${place}/`);

    it('SB151: near the other host only its own operator opens places, and policy none closes them', async () => {
      const { service, setPolicy } = under();
      await setPolicy({ allowPrivate: [service] });
      expect((await ask(service)).output).toMatch(/may not connect.*loopback/);
      expect((await ask(openedPlace)).output).toBe('opened');
      await setPolicy({ mode: 'none' });
      expect((await ask(openedPlace)).output).toContain('this conversation has no network');
    });

    it('SB152: no token is on the other host, in no file and no process', async () => {
      const { gitHost, inside, token } = under();
      expect(
        (await inside(`cd /workspace && git clone -q http://${gitHost.name}/private/r.git again && cat again/a.txt`)).output,
      ).toContain('from the host');
      const found = (words: readonly string[]): string =>
        execFileSync('sh', ['-c', 'grep -rlaF "$@" || true', 'sh', ...words.flatMap((word) => ['-e', word]), host.folder], {
          encoding: 'utf8',
        });
      expect(found(['from the host'])).not.toBe(''); // it looks where it should
      const basic = Buffer.from(`oauth2:${token}`).toString('base64');
      expect(found([token, basic.slice(0, 24)])).toBe('');
      const core = execFileSync('sh', ['-c', `tr '\\0' '\\n' < /proc/${host.pid}/environ`], { encoding: 'utf8' });
      expect(core.includes(token)).toBe(false);
    });

    it('SB150: the other host holds to the policy, also when its program was killed and the server sends it nothing', async () => {
      const { inside, sandboxes, setPolicy } = under();
      await setPolicy({ mode: 'none' });
      expect((await ask(openedPlace)).output).toContain('no network');
      await host.kill();
      await host.start();
      const { incarnation } = await sandboxes.handle('network').then(async () => (await sandboxes.record('network'))!);
      const shown = await host.call(`/sandboxes/${incarnation}/network`);
      expect(await shown.json()).toMatchObject({ mode: 'none' });
      expect((await ask(openedPlace)).output).toContain('no network');
      await setPolicy({});
      expect((await ask(openedPlace)).output).toBe('opened');
      expect((await inside(`git ls-remote -q http://${under().gitHost.name}/private/r.git main | cut -f2`)).output).toBe('refs/heads/main');
    });
  },
);

describe('a host whose operator gives less', () => {
  async function narrow(environment: Readonly<Record<string, string>>, driver: 'local' | 'none' = 'local') {
    const strict = await ExecutorHostProcess.start({ environment, driver });
    let policy: NetworkPolicy = { mode: 'full', allow: [], allowPrivate: [] };
    const sandboxes = createTestSandboxes(driverFor(strict), { networkOf: async () => policy });
    onTestFinished(async () => {
      await sandboxes.close();
      await strict.remove();
    });
    return { strict, sandboxes, set: (given: Partial<NetworkPolicy>) => void (policy = { ...policy, ...given }) };
  }

  itInFull(
    'SB151: a wider network is refused in words, at the start and afterwards; no list of a server opens what is not on the host’s',
    async () => {
      const { strict, sandboxes, set } = await narrow({
        SANDBOX_NETWORK: 'allowlist',
        SANDBOX_NETWORK_ALLOW: 'both.example,theirs.example',
      });
      expect(await driverFor(strict).probe()).toMatchObject({ network: { mode: 'allowlist', isPoliced: true } });
      await expect(sandboxes.runtimes.acquire('wide', { signal: never })).rejects.toThrow(
        /gives its sandboxes network "allowlist" at most, not "full".*SANDBOX_NETWORK/s,
      );
      set({ mode: 'allowlist', allow: ['ours.example', 'both.example'] });
      const runtime = await sandboxes.runtimes.acquire('wide', { signal: never });
      const ask = async (name: string) => (await run(runtime, `curl -sS -m 20 http://${name}/`)).output;
      expect(await ask('ours.example')).toContain('ours.example is not on the list of the host of this sandbox');
      expect(await ask('theirs.example')).toContain('theirs.example is not on the list of this conversation');
      expect(await ask('both.example')).not.toContain('not on the list');
      const change = (network: object) =>
        strict.call(`/sandboxes/${runtime.incarnation}/network`, {
          method: 'PUT',
          body: JSON.stringify(network),
          headers: { 'content-type': 'application/json' },
        });
      const refused = await change({ mode: 'full' });
      expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('at most')]);
      expect((await change({ mode: 'none' })).status).toBe(204);
      expect(await ask('both.example')).toContain('this conversation has no network');
      expect((await sandboxes.runtimes.refusedHosts('wide')).map(({ host: name }) => name)).toEqual([
        'ours.example',
        'theirs.example',
        'both.example',
      ]);
    },
  );

  it('SB151: a host that cannot hold back connections says so, and gives nothing less than all', async () => {
    const { strict, sandboxes, set } = await narrow({}, 'none');
    expect(await driverFor(strict).probe()).toMatchObject({ network: { mode: 'full', isPoliced: false } });
    set({ mode: 'none' });
    await expect(sandboxes.runtimes.acquire('none', { signal: never })).rejects.toThrow(/cannot hold back connections/);
  });
});
