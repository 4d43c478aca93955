/** On stand-ins for the API server, agent-sandbox and the kubelet: what they do not show, docs/kubernetes.md says. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgentSandboxStandIn } from '../../testing/cluster/agent-sandbox-stand-in.ts';
import { startApiServerStandIn } from '../../testing/cluster/api-server-stand-in.ts';
import { startKubeletStandIn } from '../../testing/cluster/kubelet-stand-in.ts';
import { EXECUTOR_IMAGE, kubeconfigFor, testKubernetesOptions } from '../../testing/cluster/kubernetes-under-test.ts';
import { describeDriver } from '../../testing/driver-contract.ts';
import { executorFolder } from '../../testing/sandboxes.ts';
import { INCARNATION_LABEL } from './manifests/names.ts';
import { injectedFolder } from '../docker/injected.ts';
import { createApiClient } from './api/api-client.ts';
import { clusterObjects } from './cluster-objects.ts';
import { createKubernetesDriver } from './kubernetes-driver.ts';

const cache = mkdtempSync(join(tmpdir(), 'tendon-injected-'));
const workspace = mkdtempSync(join(tmpdir(), 'tendon-workspace-'));
const api = await startApiServerStandIn();
const kubelet = await startKubeletStandIn(api.access, {
  workspace,
  injected: { [EXECUTOR_IMAGE]: await injectedFolder(executorFolder(), cache) },
});
const controller = await startAgentSandboxStandIn(api.access);
const { claims } = clusterObjects(createApiClient(api.access), api.access.namespace);
const kubeconfig = kubeconfigFor(api.access);

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
    controller.close();
    await kubelet.close();
    await api.close();
    kubeconfig.remove();
    for (const folder of [cache, workspace]) rmSync(folder, { recursive: true, force: true });
  },
});
