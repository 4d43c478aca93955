import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ClusterAccess } from '../../drivers/kubernetes/api/cluster-access.ts';
import type { KubernetesOptions } from '../../drivers/kubernetes/kubernetes-options.ts';
import { limitsOf } from '../../processes/control-group.ts';

export const EXECUTOR_IMAGE = 'registry.example.org/tendon:test';

/** A kubeconfig of its own for a cluster that a test has, as a file. */
export function kubeconfigFor({ url, ca, token, namespace }: ClusterAccess): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-kubeconfig-'));
  const path = join(folder, 'config');

  writeFileSync(
    path,
    stringify({
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace } }],
      clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': Buffer.from(ca ?? '').toString('base64') } }],
      users: [{ name: 'test', user: { token: token() } }],
    }),
  );
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export function testKubernetesOptions(kubeconfig: string, more: Partial<KubernetesOptions> = {}): KubernetesOptions {
  return {
    ...{ access: { kubeconfig }, namespace: undefined, installation: 'test', serverLabels: { app: 'tendon' }, serverNamespace: undefined },
    ...{ warm: 0, startSeconds: 60, image: 'debian:bookworm', mayPull: true, executorImage: EXECUTOR_IMAGE, mountsImages: false },
    limits: limitsOf({ memoryBytes: 2 * 1024 ** 3 }),
    requests: { cpus: 0.25, memoryBytes: 256 * 1024 ** 2 },
    ...{ userId: 1000, isRootReadOnly: false, runtimeClass: undefined, storageClass: undefined, seccompProfile: undefined, placement: {} },
    ...more,
  };
}
