import type { ApiClient } from './api/api-client.ts';
import { createResources, type ClusterObject, type Resources } from './api/resources.ts';

/** The fields of Kubernetes objects that the driver reads or writes; those of agent-sandbox are `v1beta1`. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly restartCount?: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: object;
    readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string };
  };
}

export interface Pod extends ClusterObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
    readonly podIP?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly Condition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface Sandbox extends ClusterObject {
  readonly spec: {
    readonly operatingMode?: 'Running' | 'Suspended';
    readonly shutdownTime?: string;
    readonly podTemplate: { readonly spec: object };
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface SandboxClaim extends ClusterObject {
  readonly spec: {
    readonly warmPoolRef: { readonly name: string };
    readonly lifecycle?: { readonly shutdownTime: string; readonly shutdownPolicy: 'Delete' } | null;
  };
  readonly status?: { readonly conditions?: readonly Condition[]; readonly sandbox?: { readonly name?: string } };
}

export interface SandboxTemplate extends ClusterObject {
  readonly spec: object;
}

export interface SandboxWarmPool extends ClusterObject {
  readonly spec: {
    readonly replicas: number;
    readonly sandboxTemplateRef: { readonly name: string };
    readonly updateStrategy: { readonly type: 'Recreate' };
  };
}

export interface Secret extends ClusterObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export const SANDBOX_API = { group: 'agents.x-k8s.io', version: 'v1beta1' } as const;
export const EXTENSIONS_API = { group: 'extensions.agents.x-k8s.io', version: 'v1beta1' } as const;
export const apiVersionOf = ({ group, version }: { readonly group: string; readonly version: string }): string => `${group}/${version}`;

/** The resources of one namespace that the driver uses. */
export interface ClusterObjects {
  readonly pods: Resources<Pod>;
  readonly sandboxes: Resources<Sandbox>;
  readonly claims: Resources<SandboxClaim>;
  readonly templates: Resources<SandboxTemplate>;
  readonly pools: Resources<SandboxWarmPool>;
  readonly secrets: Resources<Secret>;
  /** The last lines that a container of a pod has printed. */
  logOf(pod: string, container: string): Promise<string>;
}

const LOG_LINES = 12;
const LOG_MS = 5000;

export function clusterObjects(client: ApiClient, namespace: string): ClusterObjects {
  const core = { group: '', version: 'v1' };
  return {
    pods: createResources(client, { ...core, plural: 'pods' }, namespace),
    secrets: createResources(client, { ...core, plural: 'secrets' }, namespace),
    sandboxes: createResources(client, { ...SANDBOX_API, plural: 'sandboxes' }, namespace),
    claims: createResources(client, { ...EXTENSIONS_API, plural: 'sandboxclaims' }, namespace),
    templates: createResources(client, { ...EXTENSIONS_API, plural: 'sandboxtemplates' }, namespace),
    pools: createResources(client, { ...EXTENSIONS_API, plural: 'sandboxwarmpools' }, namespace),
    logOf: (pod, container) =>
      client.text({
        method: 'GET',
        path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log?container=${container}&tailLines=${LOG_LINES}`,
        deadlineMs: LOG_MS,
      }),
  };
}
