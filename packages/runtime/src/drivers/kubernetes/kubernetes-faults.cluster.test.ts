/** On a real API server and the real controller of agent-sandbox, with the rights that docs/kubernetes.md names; the node is a stand-in. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startControlPlane, type ControlPlane } from '../../testing/cluster/control-plane.ts';
import { openLine } from '../../testing/cluster/line.ts';
import { allow, documentedRights, type Right } from '../../testing/cluster/documented-role.ts';
import { startKubeletStandIn } from '../../testing/cluster/kubelet-stand-in.ts';
import { EXECUTOR_IMAGE, kubeconfigFor, testKubernetesOptions } from '../../testing/cluster/kubernetes-under-test.ts';
import { describePods, NODE_BYTES, startIn, type ClusterUnderTest, type PodsUnderTest } from '../../testing/cluster/pods-contract.ts';
import { execute, executorFolder, never, run, until } from '../../testing/sandboxes.ts';
import { injectedFolder } from '../docker/injected.ts';
import { createApiClient } from './api/api-client.ts';
import { WatchedObjects } from './api/watch-objects.ts';
import { clusterObjects } from './cluster-objects.ts';
import { createKubernetesDriver } from './kubernetes-driver.ts';

let plane: ControlPlane;

async function open(): Promise<ClusterUnderTest> {
  const cache = mkdtempSync(join(tmpdir(), 'tendon-injected-'));
  plane = await startControlPlane();
  const { access, client, server } = plane;
  await allow(client, access.namespace, 'server', documentedRights());
  const injected = { [EXECUTOR_IMAGE]: await injectedFolder(executorFolder(), cache) };
  const kubelet = await startKubeletStandIn(access, { injected, memoryBytes: NODE_BYTES });
  const kubeconfig = kubeconfigFor(server);
  return {
    kubeconfig: kubeconfig.path,
    objects: clusterObjects(client, access.namespace),
    async close() {
      await kubelet.close();
      await plane.close();
      kubeconfig.remove();
      rmSync(cache, { recursive: true, force: true });
    },
  };
}

const OF_INSTALLATION = 'labelSelector=tendon.dev/installation%3D';

/** In the namespace; what the driver itself never asks for is asked for by an administrator. */
const listed = async (path: string): Promise<readonly unknown[]> => {
  const { items } = await plane.client.json<{ readonly items: readonly unknown[] }>({ method: 'GET', path });
  return items;
};
const below = (group: string, plural: string) => `${group}/namespaces/${plane.access.namespace}/${plural}`;

/** Makes an object of the cluster for the length of a test. */
async function having(path: string, body: object & { readonly metadata: { readonly name: string } }): Promise<void> {
  await plane.client.json({ method: 'POST', path, body });
  onTestFinished(() => plane.client.json({ method: 'DELETE', path: `${path}/${body.metadata.name}` }).then(() => undefined));
}

describePods('a real API server', open, (under) => {
  describe('what the cluster refuses', () => void refusals(under));

  it('SB1014: with a conversation its sandbox and its volume go, too', async () => {
    const { sandboxes, objects } = under();
    const of = sandboxes('gone');
    await run(await startIn(of, 'one'), 'echo mine > file');
    const { name } = (await of.handle('one')).pod!;
    const volumes = below('/api/v1', `persistentvolumeclaims?${OF_INSTALLATION}gone`);
    expect(await listed(volumes)).toHaveLength(1);
    await of.runtimes.stop('one', { forGood: true });
    await until('the volume to go', async () => (await listed(volumes)).length === 0);
    await until('the sandbox to go', async () => (await objects.sandboxes.get(name)) === undefined);
  });

  it('SB1008: servers that begin at once share what their installation has', async () => {
    const { kubeconfig, objects } = under();
    const servers = [1, 2, 3].map(() => createKubernetesDriver(testKubernetesOptions(kubeconfig, { installation: 'together' })));
    for (const probe of await Promise.all(servers.map((one) => one.probe()))) expect(probe).toMatchObject({ available: true });
    expect((await objects.secrets.list('tendon.dev/installation=together')).items).toHaveLength(1);
  });

  it('SB1018: a server that lacks a right says so before it starts anything, and names the page', async () => {
    const { client, access, newcomer } = plane;
    const kubeconfig = kubeconfigFor(newcomer);
    onTestFinished(() => kubeconfig.remove());
    const probe = () => createKubernetesDriver(testKubernetesOptions(kubeconfig.path, { installation: 'newcomer' })).probe();
    expect(await probe()).toMatchObject({
      available: false,
      reason: expect.stringContaining('may not get, list, watch pods; get pods/log'),
    });
    const rights = documentedRights();
    for (const missing of rights) {
      const given = rights.filter((right) => right !== missing);
      await allow(client, access.namespace, 'newcomer', given);
      await until(`the right to ${missing.verb} ${missing.resource} to be gone`, async () => !(await mayDo('newcomer', missing)));
      const found = await probe();
      const name = missing.group === '' ? missing.resource : `${missing.resource}.${missing.group}`;
      expect(found).toMatchObject({
        available: false,
        reason: `this server lacks rights in the namespace agents: it may not ${missing.verb} ${name}`,
        fix: expect.stringContaining('docs/kubernetes.md'),
      });
    }
    await allow(client, access.namespace, 'newcomer', rights);
    await until('all rights to hold', async () => (await probe()).available);
  });

  describe('an API server that is away', () => void outages(under));
});

/** As the API server itself would decide. */
async function mayDo(user: string, { group, resource: named, verb }: Right): Promise<boolean> {
  const [resource, subresource] = named.split('/');
  const resourceAttributes = { namespace: plane.access.namespace, group, resource, subresource, verb };
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const body = { spec: { user, resourceAttributes } };
  return (await plane.client.json<{ readonly status: { readonly allowed: boolean } }>({ method: 'POST', path, body })).status.allowed;
}

/** It is back for the next test, whatever becomes of this one. */
async function killApiServer(): Promise<void> {
  onTestFinished(() => plane.startApiServer());
  await plane.killApiServer();
}

function outages(under: () => PodsUnderTest): void {
  it('SB1019: what runs goes on, and what is begun meanwhile is done when it is back', async () => {
    const { sandboxes } = under();
    const of = sandboxes('outage');
    const runtime = await startIn(of, 'one');
    await startIn(of, 'two');
    const action = execute(runtime, 'touch began; until test -e go; do sleep 0.02; done; echo went on');
    await until('the command to begin', async () => (await runtime.files.list('.', { signal: never })).includes('began'));
    await killApiServer();
    const [started, ended] = [startIn(of, 'three'), of.runtimes.end('two', 'a test')];
    await runtime.files.write('go', new Uint8Array(), { signal: never });
    expect(await action).toMatchObject({ outcome: 'observed', observation: { content: expect.stringContaining('went on') } });
    await plane.startApiServer();
    expect((await run(await started, 'echo begun')).output).toBe('begun');
    await ended;
    expect((await run(await startIn(of, 'two'), 'echo again')).output).toBe('again');
    expect((await run(runtime, 'echo the same')).output).toBe('the same');
  });

  it('SB1019: nothing is taken for ended because it cannot be asked for', async () => {
    const { sandboxes } = under();
    const of = sandboxes('asked');
    const { incarnation } = await startIn(of, 'one');
    await killApiServer();
    const again = await of.restart();
    const found = again.acquire('one', { signal: never });
    expect((await found).incarnation).toBe(incarnation);
    await plane.startApiServer();
    await again.reconcile();
    expect((await again.acquire('one', { signal: never })).incarnation).toBe(incarnation);
  });

  it('SB1007: what was deleted while nothing could be heard, in versions that are forgotten, is known to be gone', async () => {
    const line = await openLine(Number(new URL(plane.access.url).port));
    onTestFinished(() => line.close());
    const near = clusterObjects(createApiClient({ ...plane.access, url: `https://127.0.0.1:${line.port}` }), plane.access.namespace);
    const { secrets } = under().objects;
    const secret = (name: string) => secrets.create({ metadata: { name, labels: { part: 'watched' } }, data: {} });
    await secret('before');
    const watched = new WatchedObjects(near.secrets, 'part=watched');
    onTestFinished(() => watched.close());
    await watched.open();
    const holds = (names: readonly string[]) =>
      watched.until(
        () => String(watched.all().map(({ metadata }) => metadata.name)) === String(names) || undefined,
        AbortSignal.timeout(60_000),
      );
    await holds(['before']);
    await line.cut();
    await secrets.delete('before');
    await secret('after');
    await killApiServer();
    await plane.compact();
    await plane.startApiServer();
    expect(watched.all().map(({ metadata }) => metadata.name)).toEqual(['before']);
    await line.mend();
    await holds(['after']);
    await secret('later');
    await holds(['after', 'later']);
  });
}

function refusals(under: () => PodsUnderTest): void {
  /** What a start says that is refused. Nothing is left of it. */
  const refusal = async (installation: string, options = {}): Promise<string> => {
    const { sandboxes, objects } = under();
    const words = await startIn(sandboxes(installation, options), 'one').then(
      () => 'it started',
      (error: unknown) => (error as Error).message,
    );
    expect((await objects.claims.list(`tendon.dev/installation=${installation}`)).items).toEqual([]);
    expect((await objects.pods.list(`tendon.dev/installation=${installation}`)).items).toEqual([]);
    return words;
  };

  it('SB1013: a quota that is used up', async () => {
    const path = below('/api/v1', 'resourcequotas');
    await having(path, { metadata: { name: 'small' }, spec: { hard: { 'limits.memory': '1Mi' } } } as never);
    await until('the quota to count', async () => JSON.stringify(await listed(path)).includes('"used":{"limits.memory"'));
    expect(await refusal('quota')).toMatch(/the quota of the namespace is used up \(.*exceeded quota: small/);
  });

  it('SB1013: a LimitRange that allows less', async () => {
    const limits = [{ type: 'Container', max: { memory: '1Mi' } }];
    await having(below('/api/v1', 'limitranges'), { metadata: { name: 'less' }, spec: { limits } } as never);
    expect(await refusal('range')).toMatch(/a LimitRange of the namespace does not allow what the sandbox may use \(.*1Mi/);
  });

  it('SB1013: a RuntimeClass that is not there', async () => {
    expect(await refusal('class', { runtimeClass: 'nowhere' })).toMatch(/the cluster has no such RuntimeClass \(.*"nowhere" not found/);
  });

  it('SB1013: a level of Pod Security that the pod does not fit', async () => {
    expect(await refusal('level', { userId: 0 })).toMatch(
      /the namespace does not admit pods like these \(.*violates PodSecurity "restricted/,
    );
  });

  it('SB1013: a policy of the cluster', async () => {
    const base = '/apis/admissionregistration.k8s.io/v1';
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
    const validations = [{ expression: `object.metadata.labels['tendon.dev/installation'] != 'policy'`, message: 'not this one' }];
    await having(`${base}/validatingadmissionpolicies`, {
      metadata: { name: 'no-such-pods' },
      spec: { matchConstraints: { resourceRules: rules }, validations },
    } as never);
    await having(`${base}/validatingadmissionpolicybindings`, {
      metadata: { name: 'no-such-pods' },
      spec: { policyName: 'no-such-pods', validationActions: ['Deny'] },
    } as never);
    const { metadata, spec } = { metadata: { name: 'probe', labels: { 'tendon.dev/installation': 'policy' } }, spec: PLAIN_POD };
    await until('the policy to hold', async () =>
      plane.client.json({ method: 'POST', path: `${below('/api/v1', 'pods')}?dryRun=All`, body: { metadata, spec } }).then(
        () => false,
        (error: unknown) => String(error).includes('no-such-pods'),
      ),
    );
    expect(await refusal('policy')).toMatch(/a policy of the cluster refuses the sandbox \(.*not this one/);
  });
}

const PLAIN_POD = {
  securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [{ name: 'one', image: 'one', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
};
