/** On stand-ins, as the contract: see `kubernetes-driver.slow.test.ts`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAgentSandboxStandIn, type AgentSandboxStandIn } from '../../testing/cluster/agent-sandbox-stand-in.ts';
import { startApiServerStandIn, type ApiServerStandIn } from '../../testing/cluster/api-server-stand-in.ts';
import { startKubeletStandIn, type KubeletStandIn } from '../../testing/cluster/kubelet-stand-in.ts';
import { EXECUTOR_IMAGE, kubeconfigFor, testKubernetesOptions } from '../../testing/cluster/kubernetes-under-test.ts';
import { createTestSandboxes, executorFolder, never, run, SANDBOX_TEST_MS, type TestSandboxes, until } from '../../testing/sandboxes.ts';
import type { SandboxPoolOptions } from '../../pool/sandbox-pool.ts';
import { injectedFolder } from '../docker/injected.ts';
import { createApiClient } from './api/api-client.ts';
import { clusterObjects, type ClusterObjects } from './cluster-objects.ts';
import type { KubernetesOptions } from './kubernetes-options.ts';
import { createKubernetesDriver } from './kubernetes-driver.ts';

const GIB = 1024 ** 3;

describe('sandboxes of a cluster', { timeout: SANDBOX_TEST_MS }, () => {
  const cache = mkdtempSync(join(tmpdir(), 'tendon-injected-'));
  const opened: TestSandboxes[] = [];
  let api: ApiServerStandIn;
  let kubelet: KubeletStandIn;
  let controller: AgentSandboxStandIn;
  let kubeconfig: ReturnType<typeof kubeconfigFor>;
  let objects: ClusterObjects;

  beforeAll(async () => {
    api = await startApiServerStandIn();
    kubelet = await startKubeletStandIn(api.access, {
      injected: { [EXECUTOR_IMAGE]: await injectedFolder(executorFolder(), cache) },
      memoryBytes: GIB,
    });
    controller = await startAgentSandboxStandIn(api.access);
    kubeconfig = kubeconfigFor(api.access);
    objects = clusterObjects(createApiClient(api.access), api.access.namespace);
  });
  afterAll(async () => {
    for (const one of opened) await one.close().catch(() => undefined);
    controller.close();
    await kubelet.close();
    await api.close();
    kubeconfig.remove();
    rmSync(cache, { recursive: true, force: true });
  });

  function sandboxes(installation: string, more: Partial<KubernetesOptions> = {}, pool: Partial<SandboxPoolOptions> = {}): TestSandboxes {
    const made = createTestSandboxes(createKubernetesDriver(testKubernetesOptions(kubeconfig.path, { installation, ...more })), pool);
    opened.push(made);
    return made;
  }
  const start = (of: TestSandboxes, id: string, phases: string[] = []) =>
    of.runtimes.acquire(id, { signal: never, onPhase: (_, detail) => detail !== undefined && phases.push(detail) });

  it('SB1010: what runs in a pod reaches the network through the server alone, by the policy of its conversation', async () => {
    const target = createServer((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello')).listen(0, '127.0.0.1');
    await once(target, 'listening');
    const place = `127.0.0.1:${(target.address() as AddressInfo).port}`;
    const of = sandboxes('egress', {}, { networkOf: async () => ({ mode: 'full', allow: [], allowPrivate: [place] }) });
    const runtime = await start(of, 'one');
    const ask = (url: string): string =>
      `NO_PROXY= no_proxy= python3 -c "import urllib.request as u; print(u.urlopen('${url}').read().decode())"`;
    expect((await run(runtime, ask(`http://${place}/`))).output).toBe('hello');
    expect((await run(runtime, ask('http://127.0.0.2:1/'))).output).toContain('403');
    expect(await of.runtimes.refusedHosts('one')).toMatchObject([{ host: '127.0.0.2', port: 1 }]);
    target.close();
  });

  it('SB1013: what keeps a sandbox from starting is reported at once where it stays so, and nothing is left', async () => {
    await expect(start(sandboxes('image', { image: 'registry.example.org/nowhere' }), 'one')).rejects.toThrow(
      /image of the sandbox cannot be pulled/,
    );
    const phases: string[] = [];
    const big = sandboxes('big', { startSeconds: 5, requests: { cpus: 1, memoryBytes: 2 * GIB } });
    await expect(start(big, 'one', phases)).rejects.toThrow(/no node has space for the sandbox \(Unschedulable/);
    expect(phases).toContain('no node has space for it yet');
    const quota = { status: 403, message: 'pods "x" is forbidden: exceeded quota: agents, requested: limits.cpu=4' };
    api.refuse = ({ method, path }) => (method === 'POST' && path.endsWith('/pods') ? quota : undefined);
    await expect(start(sandboxes('quota'), 'one')).rejects.toThrow(/the quota of the namespace is used up \(.*exceeded quota: agents/);
    const forbidden = { status: 403, message: 'sandboxclaims is forbidden: User "x" cannot create resource' };
    api.refuse = ({ method, path }) => (method === 'POST' && path.endsWith('/sandboxclaims') ? forbidden : undefined);
    await expect(start(sandboxes('forbidden'), 'one')).rejects.toThrow(/may not do that in the cluster.*docs\/kubernetes.md/);
    api.refuse = () => undefined;
    expect(
      (await objects.claims.list('')).items.filter(({ metadata }) => metadata.labels?.['tendon.dev/installation'] !== 'egress'),
    ).toEqual([]);
  });

  it('SB1014: a conversation keeps its files over incarnations, and nothing of them is left when it is deleted', async () => {
    const of = sandboxes('files');
    await run(await start(of, 'one'), 'echo stays > file; echo mine > ~/own');
    await of.runtimes.end('one', 'a test');
    expect((await run(await start(of, 'one'), 'cat file ~/own')).output).toBe('stays\nmine');
    await of.runtimes.stop('one');
    expect((await run(await start(of, 'one'), 'cat file; ls ~/own')).output).toMatch(/^stays\n.*No such file/);
    await of.runtimes.stop('one', { forGood: true });
    expect((await objects.claims.list('tendon.dev/installation=files')).items).toEqual([]);
    expect((await objects.pods.list('tendon.dev/installation=files')).items).toEqual([]);
  });

  it('SB1015: a server that starts ends what nobody knows of its own installation, and nothing of another', async () => {
    const [mine, other] = [sandboxes('mine'), sandboxes('others')];
    const running = await start(other, 'theirs');
    await start(mine, 'lost');
    await mine.records.delete('sandboxes', 'lost');
    const again = await mine.restart();
    await again.reconcile();
    expect((await objects.pods.list('tendon.dev/installation=mine')).items).toEqual([]);
    expect((await run(running, 'echo still there')).output).toBe('still there');
  });

  it('SB1016: a sandbox whose servers are gone ends when its lease is over, and the next one continues with its files', async () => {
    const of = sandboxes('lease');
    const first = await start(of, 'one');
    await run(first, 'echo stays > file');
    const { pod } = await of.handle('one');
    const next = await of.restart();
    await objects.sandboxes.patch(pod!.name, { spec: { shutdownTime: '2020-01-01T00:00:00Z' } });
    await until('the pod to end', async () => (await objects.pods.get(pod!.name)) === undefined);
    const second = await next.acquire('one', { signal: never });
    expect(second.incarnation).not.toBe(first.incarnation);
    expect((await run(second, 'cat file')).output).toBe('stays');
  });

  it('SB1017: a pod that waits is taken in place of a new one, and has its own key', async () => {
    const of = sandboxes('warm', { warm: 1 });
    expect(await createKubernetesDriver(testKubernetesOptions(kubeconfig.path, { installation: 'warm', warm: 1 })).probe()).toMatchObject({
      available: true,
    });
    await until('a pod to wait', async () =>
      (await objects.pods.list('tendon.dev/installation=warm')).items.some(({ status }) => status?.phase === 'Running'),
    );
    const [waiting] = (await objects.pods.list('tendon.dev/installation=warm')).items;
    expect((await run(await start(of, 'one'), 'echo works')).output).toBe('works');
    const handle = await of.handle('one');
    expect(handle.pod?.uid).toBe(waiting!.metadata.uid);
    expect(JSON.stringify(await of.record('one'))).not.toContain('x-session-api-key');
    expect((await fetch(`${handle.url}/alive`)).status).toBe(401);
  });
});
