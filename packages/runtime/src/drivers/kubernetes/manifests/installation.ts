import { EXTENSIONS_API, apiVersionOf, type SandboxClaim, type SandboxTemplate, type SandboxWarmPool } from '../cluster-objects.ts';
import type { KubernetesOptions, PodOptions } from '../kubernetes-options.ts';
import {
  CONVERSATION_ANNOTATION,
  claimName,
  EXECUTOR_PORT,
  INCARNATION_LABEL,
  INSTALLATION_LABEL,
  installationName,
  OWNER_LABEL,
  PART_LABEL,
  VOLUME,
} from './names.ts';
import { podSpec } from './pod-spec.ts';

const apiVersion = apiVersionOf(EXTENSIONS_API);
const GIB = 1024 ** 3;
/** The size of the volume when no setting limits the disk of a sandbox. */
const USUAL_VOLUME_BYTES = 10 * GIB;

type TemplateOptions = PodOptions & Pick<KubernetesOptions, 'serverLabels' | 'serverNamespace'>;

/**
 * The template of every sandbox of the installation. From its `networkPolicy` agent-sandbox makes one network policy for all of them: it has no egress
 * rule, so nothing goes out, not even DNS; and only Tendon's servers may connect, to the port of the executor. Pure.
 */
export function sandboxTemplate(options: TemplateOptions, publicKey: string): SandboxTemplate {
  const { installation, storageClass, limits, serverLabels, serverNamespace } = options;
  const namespace =
    serverNamespace === undefined ? {} : { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': serverNamespace } } };
  const storage = Number.isFinite(limits.diskBytes) ? limits.diskBytes : USUAL_VOLUME_BYTES;
  return {
    apiVersion,
    kind: 'SandboxTemplate',
    metadata: { name: installationName(installation), labels: { [INSTALLATION_LABEL]: installation } },
    spec: {
      podTemplate: {
        metadata: { labels: { [INSTALLATION_LABEL]: installation, [PART_LABEL]: 'sandbox' } },
        spec: podSpec(options, { publicKey, isReadOnly: false }),
      },
      volumeClaimTemplates: [
        {
          metadata: { name: VOLUME, labels: { [INSTALLATION_LABEL]: installation } },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: String(storage) } },
            ...(storageClass !== undefined && { storageClassName: storageClass }),
          },
        },
      ],
      service: false,
      envVarsInjectionPolicy: 'Disallowed',
      volumeClaimTemplatesPolicy: 'Disallowed',
      networkPolicyManagement: 'Managed',
      networkPolicy: {
        ingress: [
          { from: [{ ...namespace, podSelector: { matchLabels: serverLabels } }], ports: [{ protocol: 'TCP', port: EXECUTOR_PORT }] },
        ],
        egress: [],
      },
    },
  };
}

/** A claim refers to a pool, even if no pods wait in it. */
export function warmPool({ installation, warm }: Pick<KubernetesOptions, 'installation' | 'warm'>): SandboxWarmPool {
  const name = installationName(installation);
  return {
    apiVersion,
    kind: 'SandboxWarmPool',
    metadata: { name, labels: { [INSTALLATION_LABEL]: installation } },
    spec: { replicas: warm, sandboxTemplateRef: { name }, updateStrategy: { type: 'Recreate' } },
  };
}

export interface ClaimRequest {
  readonly conversationId: string;
  readonly incarnation: string;
  /** The value of the label. */
  readonly owner: string;
  /** When the claim deletes itself unless its sandbox has started. */
  readonly expiresAt: Date;
}

export function sandboxClaim(installation: string, { conversationId, incarnation, owner, expiresAt }: ClaimRequest): SandboxClaim {
  return {
    apiVersion,
    kind: 'SandboxClaim',
    metadata: {
      name: claimName(installation, conversationId),
      labels: { [INSTALLATION_LABEL]: installation, [INCARNATION_LABEL]: incarnation, [OWNER_LABEL]: owner },
      annotations: { [CONVERSATION_ANNOTATION]: conversationId },
    },
    spec: {
      warmPoolRef: { name: installationName(installation) },
      lifecycle: { shutdownTime: timeOf(expiresAt), shutdownPolicy: 'Delete' },
    },
  };
}

/** Formats a time as the API does: RFC 3339 in whole seconds. */
export function timeOf(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
