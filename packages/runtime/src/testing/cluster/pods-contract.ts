import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKubernetesDriver } from '../../drivers/kubernetes/kubernetes-driver.ts';
import type { ClusterObjects } from '../../drivers/kubernetes/cluster-objects.ts';
import type { KubernetesOptions } from '../../drivers/kubernetes/kubernetes-options.ts';
import type { SandboxPoolOptions } from '../../pool/sandbox-pool.ts';
import { createTestSandboxes, never, run, SANDBOX_TEST_MS, type TestSandboxes, until } from '../sandboxes.ts';
import { testKubernetesOptions } from './kubernetes-under-test.ts';

/** A cluster of a test, whichever of its parts are real. */
export interface ClusterUnderTest {
  /** The path of one with the rights of a server. */
  readonly kubeconfig: string;
  /** With every right. */
  readonly objects: ClusterObjects;
  close(): Promise<void>;
}

export interface PodsUnderTest extends ClusterUnderTest {
  /** A server of that installation, with its conversations. */
  sandboxes(installation: string, more?: Partial<KubernetesOptions>, pool?: Partial<SandboxPoolOptions>): TestSandboxes;
}

const GIB = 1024 ** 3;
/** More than the node of a cluster under test has. */
const TOO_MUCH = { cpus: 1, memoryBytes: 2 * GIB } as const;
export const NODE_BYTES = GIB;

export const startIn = (of: TestSandboxes, id: string, phases: string[] = []) =>
  of.runtimes.acquire(id, { signal: never, onPhase: (_, detail) => detail !== undefined && phases.push(detail) });

/** What sandboxes in pods must do beside what all drivers must. `more` = tests for one kind of cluster. @internal */
export function describePods(name: string, open: () => Promise<ClusterUnderTest>, more: (under: () => PodsUnderTest) => void): void {
  describe(`sandboxes of a cluster: ${name}`, { timeout: SANDBOX_TEST_MS }, () => {
    const opened: TestSandboxes[] = [];
    let cluster: ClusterUnderTest;
    beforeAll(async () => {
      cluster = await open();
    });
    afterAll(async () => {
      for (const one of opened) await one.close().catch(() => undefined);
      await cluster.close();
    });
    const sandboxes: PodsUnderTest['sandboxes'] = (installation, options = {}, pool = {}) => {
      const made = createTestSandboxes(
        createKubernetesDriver(testKubernetesOptions(cluster.kubeconfig, { installation, ...options })),
        pool,
      );
      opened.push(made);
      return made;
    };

    it('SB1010: what runs in a pod reaches the network through the server alone, by the policy of its conversation', async () => {
      const target = createServer((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello')).listen(0, '127.0.0.1');
      await once(target, 'listening');
      const place = `127.0.0.1:${(target.address() as AddressInfo).port}`;
      const of = sandboxes('egress', {}, { networkOf: async () => ({ mode: 'full', allow: [], allowPrivate: [place] }) });
      const runtime = await startIn(of, 'one');
      const ask = (url: string): string =>
        `NO_PROXY= no_proxy= python3 -c "import urllib.request as u; print(u.urlopen('${url}').read().decode())"`;
      expect((await run(runtime, ask(`http://${place}/`))).output).toBe('hello');
      expect((await run(runtime, ask('http://127.0.0.2:1/'))).output).toContain('403');
      expect(await of.runtimes.refusedHosts('one')).toMatchObject([{ host: '127.0.0.2', port: 1 }]);
      target.close();
    });

    it('SB1013: what keeps a pod from starting is reported at once where it stays so, and nothing is left', async () => {
      await expect(startIn(sandboxes('image', { image: 'registry.example.org/nowhere' }), 'one')).rejects.toThrow(
        /image of the sandbox cannot be pulled/,
      );
      const phases: string[] = [];
      const big = sandboxes('big', { startSeconds: 5, requests: TOO_MUCH });
      await expect(startIn(big, 'one', phases)).rejects.toThrow(/no node has space for the sandbox \(Unschedulable/);
      expect(phases).toContain('no node has space for it yet');
      for (const installation of ['image', 'big']) {
        const { items } = await cluster.objects.claims.list(`tendon.dev/installation=${installation}`);
        expect(items).toEqual([]);
      }
    });

    it('SB1014: a conversation keeps its files over incarnations, and nothing of them is left when it is deleted', async () => {
      const of = sandboxes('files');
      await run(await startIn(of, 'one'), 'echo stays > file; echo mine > ~/own');
      await of.runtimes.end('one', 'a test');
      expect((await run(await startIn(of, 'one'), 'cat file ~/own')).output).toBe('stays\nmine');
      await of.runtimes.stop('one');
      expect((await run(await startIn(of, 'one'), 'cat file; ls ~/own')).output).toMatch(/^stays\n.*No such file/);
      await of.runtimes.stop('one', { forGood: true });
      expect((await cluster.objects.claims.list('tendon.dev/installation=files')).items).toEqual([]);
      expect((await cluster.objects.pods.list('tendon.dev/installation=files')).items).toEqual([]);
    });

    it('SB1020: another server takes a conversation over with its files, and what the earlier one still ends is not its sandbox', async () => {
      const [earlier, later] = [sandboxes('taken'), sandboxes('taken')];
      await run(await startIn(earlier, 'same'), 'echo stays > file');
      const before = await earlier.handle('same');
      const runtime = await startIn(later, 'same');
      expect((await run(runtime, 'cat file')).output).toBe('stays');
      const after = (await later.handle('same')).pod!;
      expect(after.name).toBe(before.pod!.name);
      await earlier.runtimes.end('same', 'it still has it');
      await createKubernetesDriver(testKubernetesOptions(cluster.kubeconfig, { installation: 'taken' })).end(before);
      const { items } = await cluster.objects.pods.list('tendon.dev/installation=taken');
      expect(items.map(({ metadata }) => metadata.uid)).toEqual([after.uid]);
      expect((await run(runtime, 'echo goes on')).output).toBe('goes on');
    });

    it('SB1015: a server that starts ends what nobody knows of its own installation, and nothing of another', async () => {
      const [mine, other] = [sandboxes('mine'), sandboxes('others')];
      const running = await startIn(other, 'theirs');
      await startIn(mine, 'lost');
      await mine.records.delete('sandboxes', 'lost');
      const again = await mine.restart();
      await again.reconcile();
      expect((await cluster.objects.pods.list('tendon.dev/installation=mine')).items).toEqual([]);
      expect((await run(running, 'echo still there')).output).toBe('still there');
    });

    it('SB1016: a sandbox whose servers are gone ends when its lease is over, and the next one continues with its files', async () => {
      const of = sandboxes('lease');
      const first = await startIn(of, 'one');
      await run(first, 'echo stays > file');
      const { pod } = await of.handle('one');
      const next = await of.restart();
      await cluster.objects.sandboxes.patch(pod!.name, { spec: { shutdownTime: '2020-01-01T00:00:00Z' } });
      await until('the pod to end', async () => (await cluster.objects.pods.get(pod!.name)) === undefined);
      const second = await next.acquire('one', { signal: never });
      expect(second.incarnation).not.toBe(first.incarnation);
      expect((await run(second, 'cat file')).output).toBe('stays');
    });

    it('SB1017: a pod that waits is taken in place of a new one, and has its own key', async () => {
      const of = sandboxes('warm', { warm: 1 });
      const options = testKubernetesOptions(cluster.kubeconfig, { installation: 'warm', warm: 1 });
      expect(await createKubernetesDriver(options).probe()).toMatchObject({ available: true });
      await until('a pod to wait', async () =>
        (await cluster.objects.pods.list('tendon.dev/installation=warm')).items.some(({ status }) => status?.phase === 'Running'),
      );
      const [waiting] = (await cluster.objects.pods.list('tendon.dev/installation=warm')).items;
      expect((await run(await startIn(of, 'one'), 'echo works')).output).toBe('works');
      const handle = await of.handle('one');
      expect(handle.pod?.uid).toBe(waiting!.metadata.uid);
      expect(JSON.stringify(await of.record('one'))).not.toContain('x-session-api-key');
      expect((await fetch(`${handle.url}/alive`)).status).toBe(401);
    });

    more(() => ({ ...cluster, sandboxes }));
  });
}
