import type { AwaitRequest } from '@tendon/protocol/executor-api';
import { INJECTED } from '../../start/injected-places.ts';
import { INSIDE } from '../../start/inside.ts';
import type { PodOptions } from '../kubernetes-options.ts';
import { CONTAINER, EXECUTOR_PORT, VOLUME } from './names.ts';

const POD_HOME = '/home/tendon';
/** The injected folder in the image of the executor. */
const INJECTED_IN_IMAGE = '/opt/tendon/executor';
const TEMPORARY = ['/tmp', '/var/tmp', '/run/tendon'] as const;
/** The grace period in seconds; the state is stored before the pod is asked to end. */
const GRACE_SECONDS = 5;
const MOUNTED = '/volume';
const SUB_PATHS = { workspace: INSIDE.workspace, home: POD_HOME, state: INSIDE.state } as const;

export interface PodShape {
  /** The public key, SPKI in base64, of the servers that may configure the executor. */
  readonly publicKey: string;
  readonly isReadOnly: boolean;
}

/**
 * The spec of a sandbox's pod, in which the executor waits for its configuration. It is the same for every conversation, so it contains no secret and no
 * conversation id. Pure.
 */
export function podSpec(options: PodOptions, { publicKey, isReadOnly }: PodShape): Readonly<Record<string, unknown>> {
  const { executorImage, mountsImages, placement, runtimeClass, limits } = options;
  return {
    ...placement,
    ...(runtimeClass !== undefined && { runtimeClassName: runtimeClass }),
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: GRACE_SECONDS,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // The pause container reaps orphaned processes of the agent, because the executor is not an init.
    shareProcessNamespace: true,
    // The egress proxy on the server resolves names, so the pod needs no DNS.
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['127.0.0.1'] },
    securityContext: podSecurity(options),
    volumes: [
      mountsImages ? { name: 'tendon', image: { reference: executorImage, pullPolicy: 'IfNotPresent' } } : { name: 'tendon', emptyDir: {} },
      ...TEMPORARY.map((path) => ({ name: volumeName(path), emptyDir: { sizeLimit: String(limits.tmpBytes) } })),
      { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: String(limits.tmpBytes) } },
    ],
    initContainers: [initContainer(options)],
    containers: [sandboxContainer(options, { publicKey, isReadOnly })],
  };
}

function podSecurity({ userId, seccompProfile }: PodOptions): object {
  return {
    runAsNonRoot: true,
    runAsUser: userId,
    runAsGroup: userId,
    fsGroup: userId,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: seccompProfile === undefined ? { type: 'RuntimeDefault' } : { type: 'Localhost', localhostProfile: seccompProfile },
  };
}

function containerSecurity(isRootReadOnly: boolean): object {
  return { allowPrivilegeEscalation: false, privileged: false, readOnlyRootFilesystem: isRootReadOnly, capabilities: { drop: ['ALL'] } };
}

/** Copies the injected files into a volume of the pod, unless the image itself is mounted, and creates the folders on the sandbox's own volume. */
function initContainer({ executorImage, mountsImages, requests, limits }: PodOptions): object {
  const folders = Object.keys(SUB_PATHS).map((name) => `${MOUNTED}/${name}`);
  // Use the injected busybox, because the image may not have a shell.
  const busybox = `${INJECTED_IN_IMAGE}/bin/busybox`;
  const copy = mountsImages ? '' : `${busybox} cp -R ${INJECTED_IN_IMAGE}/. /injected && `;
  return {
    name: 'tendon',
    image: executorImage,
    command: [busybox, 'sh', '-c', `${copy}${busybox} mkdir -p ${folders.join(' ')}`],
    resources: resources(requests, limits),
    securityContext: containerSecurity(true),
    volumeMounts: [...(mountsImages ? [] : [{ name: 'tendon', mountPath: '/injected' }]), { name: VOLUME, mountPath: MOUNTED }],
  };
}

function sandboxContainer(options: PodOptions, { publicKey, isReadOnly }: PodShape): object {
  const { image, mayPull, isRootReadOnly, requests, limits, mountsImages } = options;
  // The kubelet fills in the values of the pod.
  const awaited: AwaitRequest = {
    host: '$(TENDON_POD_IP)',
    port: EXECUTOR_PORT,
    publicKey,
    place: '$(TENDON_POD_UID)',
    folders: { stateDir: INSIDE.state, workspace: INSIDE.workspace, home: POD_HOME },
  };
  return {
    name: CONTAINER,
    image,
    imagePullPolicy: mayPull ? 'IfNotPresent' : 'Never',
    command: [
      INJECTED.loader,
      '--library-path',
      INJECTED.lib,
      INJECTED.node,
      `${INJECTED.executor}/main.mjs`,
      '--await',
      JSON.stringify(awaited),
    ],
    workingDir: INSIDE.workspace,
    env: [
      { name: 'TENDON_POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'TENDON_POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
      { name: 'HOME', value: POD_HOME },
      // Override variables of the image that would affect the executor.
      { name: 'NODE_OPTIONS', value: '' },
      { name: 'LD_PRELOAD', value: '' },
    ],
    ports: [{ name: 'executor', containerPort: EXECUTOR_PORT }],
    resources: resources(requests, limits),
    securityContext: containerSecurity(isRootReadOnly),
    volumeMounts: [
      { name: 'tendon', mountPath: INJECTED.root, readOnly: true, ...(mountsImages && { subPath: INJECTED_IN_IMAGE.slice(1) }) },
      ...Object.entries(SUB_PATHS).map(([subPath, mountPath]) => ({
        name: VOLUME,
        mountPath,
        subPath,
        readOnly: isReadOnly && mountPath === INSIDE.workspace,
      })),
      ...TEMPORARY.map((mountPath) => ({ name: volumeName(mountPath), mountPath })),
      { name: 'shm', mountPath: '/dev/shm' },
    ],
  };
}

function volumeName(path: string): string {
  return path.slice(1).replaceAll('/', '-');
}

function resources(requests: PodOptions['requests'], { cpus, memoryBytes, diskBytes }: PodOptions['limits']): object {
  const disk = Number.isFinite(diskBytes) ? { 'ephemeral-storage': String(diskBytes) } : {};
  return {
    requests: { cpu: quantity(Math.min(requests.cpus, cpus)), memory: String(Math.min(requests.memoryBytes, memoryBytes)) },
    limits: { cpu: quantity(cpus), memory: String(memoryBytes), ...disk },
  };
}

/** Formats processors as millicores. */
function quantity(cpus: number): string {
  return `${Math.ceil(cpus * 1000)}m`;
}
