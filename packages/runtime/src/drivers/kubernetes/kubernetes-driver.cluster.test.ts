/** The contract on a real API server and the real controller of agent-sandbox, with the rights that docs/kubernetes.md names; the node is a stand-in. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControlPlane } from '../../testing/cluster/control-plane.ts';
import { allow, documentedRights } from '../../testing/cluster/documented-role.ts';
import { startKubeletStandIn } from '../../testing/cluster/kubelet-stand-in.ts';
import { EXECUTOR_IMAGE, kubeconfigFor, testKubernetesOptions } from '../../testing/cluster/kubernetes-under-test.ts';
import { describeDriver } from '../../testing/driver-contract.ts';
import { executorFolder } from '../../testing/sandboxes.ts';
import { injectedFolder } from '../docker/injected.ts';
import { clusterObjects } from './cluster-objects.ts';
import { createKubernetesDriver } from './kubernetes-driver.ts';
import { INCARNATION_LABEL } from './manifests/names.ts';

const cache = mkdtempSync(join(tmpdir(), 'tendon-injected-'));
const workspace = mkdtempSync(join(tmpdir(), 'tendon-workspace-'));
const { access, client, server, close } = await startControlPlane();
await allow(client, access.namespace, 'server', documentedRights());
const kubelet = await startKubeletStandIn(access, {
  workspace,
  injected: { [EXECUTOR_IMAGE]: await injectedFolder(executorFolder(), cache) },
});
const { claims } = clusterObjects(client, access.namespace);
const kubeconfig = kubeconfigFor(server);

describeDriver('kubernetes', {
  make: () => createKubernetesDriver(testKubernetesOptions(kubeconfig.path)),
  workspacePath: () => '/workspace',
  workspaceFolder: () => workspace,
  killExecutor: async ({ pod }) => kubelet.kill(pod!.name),
  leftOf: async (incarnation) => {
    const { items } = await claims.list(`${INCARNATION_LABEL}=${incarnation}`);
    return kubelet.running().filter((pod) => items.some(({ status }) => status?.sandbox?.name === pod));
  },
  close: async () => {
    await kubelet.close();
    await close();
    kubeconfig.remove();
    for (const folder of [cache, workspace]) rmSync(folder, { recursive: true, force: true });
  },
});
