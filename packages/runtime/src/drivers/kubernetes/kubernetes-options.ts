import type { Limits } from '../../processes/control-group.ts';
import type { AccessOptions } from './api/cluster-access.ts';

/** The settings of an operator for the pods. */
export interface KubernetesOptions extends PodOptions {
  readonly access: AccessOptions;
  /** The namespace of the sandboxes. Default: that of the service account, or of the kubeconfig's context. */
  readonly namespace: string | undefined;
  /** Labels of the pods of Tendon's servers. Only these pods may connect to sandboxes. */
  readonly serverLabels: Readonly<Record<string, string>>;
  /** The namespace of those pods. Default: that of the sandboxes. */
  readonly serverNamespace: string | undefined;
  /** How many pods wait for a conversation. */
  readonly warm: number;
  /** How long a start may take, including the wait for a node and an image. */
  readonly startSeconds: number;
}

export interface PodOptions {
  /** Names this installation in the namespace; objects with this label belong to it. The same for all of its servers. */
  readonly installation: string;
  /** Any Linux image of the nodes' processor; it is used as it is. */
  readonly image: string;
  readonly mayPull: boolean;
  /** The image with the injected folder at `/opt/tendon/executor`. */
  readonly executorImage: string;
  /** Mount the executor's image as a volume instead of copying from it, if the cluster can. */
  readonly mountsImages: boolean;
  readonly limits: Limits;
  /** The resources that a node must have free. */
  readonly requests: { readonly cpus: number; readonly memoryBytes: number };
  readonly userId: number;
  readonly isRootReadOnly: boolean;
  /** `gvisor`, `kata`, …; the cluster's default when missing. */
  readonly runtimeClass: string | undefined;
  readonly storageClass: string | undefined;
  /** A seccomp profile on the nodes, instead of the container runtime's default. */
  readonly seccompProfile: string | undefined;
  readonly placement: PodPlacement;
}

/** Fields of a pod that decide where it runs and where its images come from, as in the API. */
export type PodPlacement = Readonly<Partial<Record<(typeof PLACEMENT_FIELDS)[number], unknown>>>;

export const PLACEMENT_FIELDS = [
  'affinity',
  'hostUsers',
  'imagePullSecrets',
  'nodeSelector',
  'priorityClassName',
  'schedulerName',
  'tolerations',
  'topologySpreadConstraints',
] as const;
