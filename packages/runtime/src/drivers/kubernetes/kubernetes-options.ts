import type { Limits } from '../../processes/control-group.ts';
import type { AccessOptions } from './api/cluster-access.ts';

/** What an operator can say of the pods. */
export interface KubernetesOptions extends PodOptions {
  readonly access: AccessOptions;
  /** Where the sandboxes are; missing: the namespace of the service account, or of the kubeconfig's context. */
  readonly namespace: string | undefined;
  /** The pods of Tendon's servers, which alone may connect to sandboxes. */
  readonly serverLabels: Readonly<Record<string, string>>;
  /** Where those are; missing: in the namespace of the sandboxes. */
  readonly serverNamespace: string | undefined;
  /** Pods that wait for a conversation. */
  readonly warm: number;
  /** How long a start may take, with what it waits for a node and an image. */
  readonly startSeconds: number;
}

export interface PodOptions {
  /** Names this installation in the namespace: no other touches what is labelled so. All its servers have the same. */
  readonly installation: string;
  /** Any Linux image of the nodes' processor; it is used as it is. */
  readonly image: string;
  readonly mayPull: boolean;
  /** The image that has the injected folder at `/opt/tendon/executor`. */
  readonly executorImage: string;
  /** The cluster can mount an image as a volume, so nothing is copied. */
  readonly mountsImages: boolean;
  readonly limits: Limits;
  /** What a node must have to spare. */
  readonly requests: { readonly cpus: number; readonly memoryBytes: number };
  readonly userId: number;
  readonly isRootReadOnly: boolean;
  /** `gvisor`, `kata`, …; the cluster's default when missing. */
  readonly runtimeClass: string | undefined;
  readonly storageClass: string | undefined;
  /** A profile on the nodes, in place of the one of the container runtime. */
  readonly seccompProfile: string | undefined;
  readonly placement: PodPlacement;
}

/** Fields of a pod that say where it runs and from where its images come, as the API has them. */
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
