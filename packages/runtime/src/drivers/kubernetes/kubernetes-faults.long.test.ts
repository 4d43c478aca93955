/** On stand-ins, as the contract: see `kubernetes-driver.slow.test.ts`. The same and more on a real API server: `kubernetes-faults.cluster.test.ts`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startAgentSandboxStandIn } from '../../testing/cluster/agent-sandbox-stand-in.ts';
import { startApiServerStandIn, type ApiServerStandIn } from '../../testing/cluster/api-server-stand-in.ts';
import { startKubeletStandIn } from '../../testing/cluster/kubelet-stand-in.ts';
import { EXECUTOR_IMAGE, kubeconfigFor } from '../../testing/cluster/kubernetes-under-test.ts';
import { describePods, NODE_BYTES, startIn, type ClusterUnderTest } from '../../testing/cluster/pods-contract.ts';
import { executorFolder } from '../../testing/sandboxes.ts';
import { injectedFolder } from '../docker/injected.ts';
import { createApiClient } from './api/api-client.ts';
import { clusterObjects } from './cluster-objects.ts';

let api: ApiServerStandIn;

async function open(): Promise<ClusterUnderTest> {
  const cache = mkdtempSync(join(tmpdir(), 'tendon-injected-'));
  api = await startApiServerStandIn();
  const injected = { [EXECUTOR_IMAGE]: await injectedFolder(executorFolder(), cache) };
  const kubelet = await startKubeletStandIn(api.access, { injected, memoryBytes: NODE_BYTES });
  const controller = await startAgentSandboxStandIn(api.access);
  const kubeconfig = kubeconfigFor(api.access);
  return {
    kubeconfig: kubeconfig.path,
    objects: clusterObjects(createApiClient(api.access), api.access.namespace),
    async close() {
      controller.close();
      await kubelet.close();
      await api.close();
      kubeconfig.remove();
      rmSync(cache, { recursive: true, force: true });
    },
  };
}

describePods('stand-ins', open, (under) => {
  it('SB1013: what the API server refuses is reported at once, and nothing is left', async () => {
    const { sandboxes, objects } = under();
    const quota = { status: 403, message: 'pods "x" is forbidden: exceeded quota: agents, requested: limits.cpu=4' };
    api.refuse = ({ method, path }) => (method === 'POST' && path.endsWith('/pods') ? quota : undefined);
    await expect(startIn(sandboxes('quota'), 'one')).rejects.toThrow(/the quota of the namespace is used up \(.*exceeded quota: agents/);
    const forbidden = { status: 403, message: 'sandboxclaims is forbidden: User "x" cannot create resource' };
    api.refuse = ({ method, path }) => (method === 'POST' && path.endsWith('/sandboxclaims') ? forbidden : undefined);
    await expect(startIn(sandboxes('forbidden'), 'one')).rejects.toThrow(/may not do that in the cluster.*docs\/kubernetes.md/);
    api.refuse = () => undefined;
    for (const installation of ['quota', 'forbidden'])
      expect((await objects.claims.list(`tendon.dev/installation=${installation}`)).items).toEqual([]);
  });
});
