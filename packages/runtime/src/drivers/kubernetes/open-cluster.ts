import { createApiClient, type ApiClient } from './api/api-client.ts';
import { ApiError, ClusterProblem } from './api/api-error.ts';
import { findAccess } from './api/cluster-access.ts';
import { patientClient } from './api/patient-client.ts';
import { WatchedObjects } from './api/watch-objects.ts';
import { clusterObjects, EXTENSIONS_API, SANDBOX_API } from './cluster-objects.ts';
import type { KubernetesOptions } from './kubernetes-options.ts';
import { sandboxTemplate, warmPool } from './manifests/installation.ts';
import { ofInstallation, PART_LABEL } from './manifests/names.ts';
import type { ClusterView } from './pod-lifecycle.ts';
import { requireRights } from './required-rights.ts';
import { findSigningKey, type SigningKey } from './signing-key.ts';

/** The cluster, once the objects that all sandboxes of the installation share exist. */
export interface OpenCluster extends ClusterView {
  readonly key: SigningKey;
  readonly namespace: string;
  /** The version of the API server. */
  readonly version: string;
}

/** Creates or updates the objects that all sandboxes share, and begins to watch. Rejects with a `ClusterProblem`. */
export async function openCluster(options: KubernetesOptions): Promise<OpenCluster> {
  const access = await findAccess(options.access);
  const client = createApiClient(access);
  const namespace = options.namespace ?? access.namespace;
  const { gitVersion: version } = await client.json<{ readonly gitVersion: string }>({ method: 'GET', path: '/version' });
  for (const api of [SANDBOX_API, EXTENSIONS_API]) await requireApi(client, api);
  await requireRights(client, namespace);
  const objects = clusterObjects(patientClient(client), namespace);
  const key = await findSigningKey(objects.secrets, options.installation);
  // They must exist before the first claim: agent-sandbox looks for missing objects again only after a minute.
  await objects.templates.apply(sandboxTemplate(options, key.publicKey));
  await objects.pools.apply(warmPool(options));
  const selector = ofInstallation(options.installation);
  const pods = new WatchedObjects(objects.pods, `${selector},${PART_LABEL}=sandbox`);
  const claims = new WatchedObjects(objects.claims, selector);
  await Promise.all([pods.open(), claims.open()]);
  return { objects, pods, claims, key, namespace, version };
}

async function requireApi(client: ApiClient, { group, version }: { readonly group: string; readonly version: string }): Promise<void> {
  try {
    await client.json({ method: 'GET', path: `/apis/${group}/${version}` });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    throw new ClusterProblem(
      `the cluster does not serve ${group}/${version}`,
      'Install agent-sandbox of kubernetes-sigs, 0.5 or newer, with its extensions: docs/kubernetes.md has the commands.',
    );
  }
}
