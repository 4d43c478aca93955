/** A refusal of the API server, with its own message. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  /** `Forbidden`, `AlreadyExists`, `Expired`, …; empty if it gave none. */
  readonly reason: string;

  constructor(status: number, message: string, reason = '') {
    super(message === '' ? `the Kubernetes API answered with status ${status}` : message);
    this.status = status;
    this.reason = reason;
  }
}

/** Nothing answers at the address of the API server, or it broke off. */
export class ApiUnreachable extends Error {
  override name = 'ApiUnreachable';
  readonly code: string;

  constructor(host: string, cause: NodeJS.ErrnoException) {
    super(`the Kubernetes API at ${host} does not answer (${cause.code ?? cause.message})`, { cause });
    this.code = cause.code ?? '';
  }
}

/** A user-facing error: what is wrong, as a clause, and what to do about it, as sentences. */
export class ClusterProblem extends Error {
  override name = 'ClusterProblem';
  readonly reason: string;
  readonly fix: string;

  constructor(reason: string, fix: string) {
    super(`${reason}. ${fix}`);
    this.reason = reason;
    this.fix = fix;
  }
}

interface Known {
  readonly words: RegExp;
  readonly reason: string;
  readonly fix: string;
}

/** Known messages of the API server, its controllers, the scheduler and the kubelet, explained to somebody who only wants a sandbox. */
const KNOWN: readonly Known[] = [
  {
    words: /exceeded quota/i,
    reason: 'the quota of the namespace is used up',
    fix: 'End sandboxes that are not in use (SANDBOX_MAX_LIVE, SANDBOX_IDLE_SECONDS), lower SANDBOX_MEMORY and SANDBOX_CPUS, or raise the ResourceQuota.',
  },
  {
    words: /violates PodSecurity/i,
    reason: 'the namespace does not admit pods like these',
    fix: 'Sandboxes fit the level restricted, with another SANDBOX_KUBERNETES_SECCOMP the level privileged: kubectl label namespace … pod-security.kubernetes.io/enforce=restricted.',
  },
  {
    words: /admission webhook|denied the request|validatingadmissionpolicy/i,
    reason: 'a policy of the cluster refuses the sandbox',
    fix: 'Its words say which one: have it allow what docs/kubernetes.md lists, or give it what it wants through SANDBOX_KUBERNETES_PLACEMENT.',
  },
  {
    words: /maximum (?:cpu|memory|storage) usage per|minimum (?:cpu|memory|storage) usage per|LimitRange/i,
    reason: 'a LimitRange of the namespace does not allow what the sandbox may use',
    fix: 'Change SANDBOX_MEMORY, SANDBOX_CPUS or SANDBOX_DISK, or the LimitRange.',
  },
  {
    words: /RuntimeClass.*not found|runtimeclass/i,
    reason: 'the cluster has no such RuntimeClass',
    fix: 'Correct SANDBOX_KUBERNETES_RUNTIME_CLASS: kubectl get runtimeclass lists them.',
  },
  {
    words: /unbound immediate PersistentVolumeClaims|storageclass.*not found|no persistent volumes available|provisioning failed/i,
    reason: 'the cluster has no volume for the workspace',
    fix: 'Name a StorageClass that makes volumes by itself in SANDBOX_KUBERNETES_STORAGE_CLASS: kubectl get storageclass lists them.',
  },
  {
    words: /nodes? are available|didn't match Pod's node affinity|Insufficient (?:cpu|memory|ephemeral-storage)|untolerated taint/i,
    reason: 'no node has space for the sandbox',
    fix: 'Add nodes, lower SANDBOX_MEMORY, SANDBOX_CPUS or SANDBOX_KUBERNETES_MEMORY_REQUEST, or correct SANDBOX_KUBERNETES_PLACEMENT.',
  },
  {
    words: /ImagePull|ErrImage|InvalidImageName|pull access denied|manifest unknown|not found: manifest|failed to pull/i,
    reason: 'an image of the sandbox cannot be pulled',
    fix: 'Check SANDBOX_BASE_CONTAINER_IMAGE and SANDBOX_KUBERNETES_EXECUTOR_IMAGE; a private registry needs imagePullSecrets in SANDBOX_KUBERNETES_PLACEMENT.',
  },
  {
    words: /runAsNonRoot|CreateContainer|RunContainerError|StartError|exec format error/i,
    reason: 'the container of the sandbox cannot be started',
    fix: 'The image must be for the processor of the nodes, and work for an ordinary user; kubectl describe pod says more.',
  },
];

/** Turns any error into a `ClusterProblem`; one that is one already is returned unchanged. */
export function explainCluster(error: unknown): ClusterProblem {
  if (error instanceof ClusterProblem) return error;
  if (error instanceof ApiUnreachable) return explainUnreachable(error);
  const message = error instanceof Error ? error.message : String(error);
  const lines = message.split('\n').filter((line) => line.trim() !== '');
  const known = KNOWN.find((one) => one.words.test(message));
  // A controller joins all of its errors into one message. The known one is the cause; the others follow from it or are transient.
  const words = (lines.find((line) => known?.words.test(line)) ?? lines[0] ?? '').slice(0, 400);
  if (known !== undefined) return new ClusterProblem(`${known.reason} (${words})`, known.fix);
  if (error instanceof ApiError && error.status === 401) {
    return new ClusterProblem(`the Kubernetes API does not accept the token (${words})`, 'Renew it, or correct the kubeconfig.');
  }
  if (error instanceof ApiError && error.status === 403) {
    return new ClusterProblem(
      `this server may not do that in the cluster (${words})`,
      'Give its service account the Role of docs/kubernetes.md.',
    );
  }
  return new ClusterProblem(words, 'kubectl describe, for the sandboxclaim, the sandbox and the pod of that name, shows more.');
}

function explainUnreachable({ message, code }: ApiUnreachable): ClusterProblem {
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL/.test(code)) {
    return new ClusterProblem(`${message}: its certificate is not trusted`, 'Correct certificate-authority in the kubeconfig.');
  }
  return new ClusterProblem(message, 'Check that the cluster runs and that this server may reach it.');
}
