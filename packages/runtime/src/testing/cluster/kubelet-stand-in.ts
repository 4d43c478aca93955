import { spawn, type ChildProcess } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createApiClient, type ApiClient } from '../../drivers/kubernetes/api/api-client.ts';
import { ApiError } from '../../drivers/kubernetes/api/api-error.ts';
import type { ClusterAccess } from '../../drivers/kubernetes/api/cluster-access.ts';
import { WatchedObjects } from '../../drivers/kubernetes/api/watch-objects.ts';
import { clusterObjects, type ContainerStatus, type Pod } from '../../drivers/kubernetes/cluster-objects.ts';

/**
 * A STAND-IN for a node: scheduler, kubelet, container runtime and volumes in one. It runs each pod as a bubblewrap sandbox of this machine, on the
 * host's own programs whatever the image is called, without nested user namespaces as under a container runtime's seccomp profile. It enforces
 * neither network policies nor limits, and a pod's address is one of the loopback. Nothing here shows that a real node would run the pod.
 */
export interface KubeletStandIn {
  /** SIGKILL to the container of a pod. */
  kill(pod: string): void;
  running(): readonly string[];
  close(): Promise<void>;
}

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
  }[];
  readonly resources?: { readonly requests?: { readonly memory?: string } };
  readonly volumeMounts?: readonly Mount[];
}

interface PodSpec {
  readonly nodeName?: string;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly persistentVolumeClaim?: { readonly claimName: string } }[];
  readonly securityContext?: { readonly runAsUser?: number };
}

export interface KubeletOptions {
  /** What images have at `/opt/tendon/executor`, by their names. */
  readonly injected: Readonly<Record<string, string>>;
  /** The workspace of every volume: conversations of the contract share theirs. */
  readonly workspace?: string;
  /** More than that no pod is given. */
  readonly memoryBytes?: number;
}

const NODE = 'stand-in';
const ROOT = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/lib32', '/etc'];
/** Images with this word cannot be pulled. */
const NOWHERE = 'nowhere';
const AGAIN_MS = 200;
let addresses = 0;

export async function startKubeletStandIn(access: ClusterAccess, options: KubeletOptions): Promise<KubeletStandIn> {
  const client = createApiClient(access);
  const objects = clusterObjects(client, access.namespace);
  const pods = new WatchedObjects(objects.pods, '');
  const root = mkdtempSync(join(tmpdir(), 'tendon-node-'));
  const known = new Map<string, RunningPod>();
  const closing = new AbortController();
  const node: Node = { client, namespace: access.namespace, root, options, closing: closing.signal };

  function look(): void {
    for (const pod of pods.all()) {
      const { uid = '', deletionTimestamp } = pod.metadata;
      const running = known.get(uid);
      if (running === undefined && deletionTimestamp === undefined) {
        const started = new RunningPod(pod, node);
        known.set(uid, started);
        void started.run().catch(report);
      }
      if (deletionTimestamp !== undefined) void (running ?? new RunningPod(pod, node)).remove().catch(report);
    }
  }

  /** What the API server refuses, no test can have expected. */
  function report(error: unknown): void {
    if (!closing.signal.aborted) process.stderr.write(`kubelet stand-in: ${String(error)}\n`);
  }

  await pods.open();
  void pods.until(look, closing.signal).catch(() => {});
  const named = (name: string) => [...known.values()].find((pod) => pod.name === name && pod.isRunning);
  return {
    kill: (name) => named(name)?.kill(),
    running: () => [...known.values()].filter(({ isRunning }) => isRunning).map(({ name }) => name),
    async close() {
      closing.abort();
      pods.close();
      await Promise.all([...known.values()].map((pod) => pod.end()));
      rmSync(root, { recursive: true, force: true });
    },
  };
}

interface Node {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly root: string;
  readonly options: KubeletOptions;
  readonly closing: AbortSignal;
}

/** One pod on this node. Owns its processes. */
class RunningPod {
  readonly name: string;
  readonly #uid: string;
  readonly #spec: PodSpec;
  readonly #node: Node;
  readonly #ip: string;
  readonly #ended = new AbortController();
  #child: ChildProcess | undefined;
  #exit: Promise<number> = Promise.resolve(0);
  #isRemoving = false;

  constructor(pod: Pod, node: Node) {
    this.name = pod.metadata.name;
    this.#uid = pod.metadata.uid ?? '';
    this.#spec = pod.spec as unknown as PodSpec;
    this.#node = node;
    addresses += 1;
    this.#ip = `127.${100 + (process.pid % 100)}.${1 + (addresses >> 8)}.${1 + ((addresses & 0xff) % 250)}`;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async run(): Promise<void> {
    const { initContainers = [], containers } = this.#spec;
    const needed = containers.reduce((sum, { resources }) => sum + Number(resources?.requests?.memory ?? 0), 0);
    if (needed > (this.#node.options.memoryBytes ?? Infinity)) {
      const condition = {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: '0/1 nodes are available: 1 Insufficient memory.',
      };
      return this.#status({ phase: 'Pending', conditions: [condition] });
    }
    await this.#call('POST', '/binding', {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: this.name },
      target: { apiVersion: 'v1', kind: 'Node', name: NODE },
    });
    for (const container of initContainers) {
      const code = await this.#start(container);
      if (this.#ended.signal.aborted) return;
      if (code !== 0) return this.#status({ phase: 'Failed', initContainerStatuses: [ended(container, code)] });
    }
    const [main] = containers;
    if (main === undefined) return;
    if (main.image.includes(NOWHERE)) {
      const state = { waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${main.image}"` } };
      return this.#status({ phase: 'Pending', containerStatuses: [{ name: main.name, state }] });
    }
    const exit = this.#start(main);
    const status = { phase: 'Running', podIP: this.#ip, podIPs: [{ ip: this.#ip }], conditions: [{ type: 'Ready', status: 'True' }] };
    await this.#status({
      ...status,
      containerStatuses: [{ ...blank(main), ready: true, started: true, state: { running: { startedAt: new Date().toISOString() } } }],
    });
    const code = await exit;
    if (!this.#isRemoving)
      await this.#status({ ...status, phase: code === 0 ? 'Succeeded' : 'Failed', conditions: [], containerStatuses: [ended(main, code)] });
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  async end(): Promise<void> {
    this.#ended.abort();
    this.kill();
    await this.#exit;
  }

  /** The API server keeps it until it has ended here. */
  async remove(): Promise<void> {
    if (this.#isRemoving) return;
    this.#isRemoving = true;
    await this.end();
    await this.#call('DELETE', '?gracePeriodSeconds=0', { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 });
  }

  #start(container: Container): Promise<number> {
    const { command, workingDir = '/', image } = container;
    const user = String(this.#spec.securityContext?.runAsUser ?? 0);
    const bundled = this.#node.options.injected[image];
    const walls = [
      '--unshare-user',
      '--uid',
      user,
      '--gid',
      user,
      '--disable-userns',
      '--unshare-pid',
      '--unshare-ipc',
      '--unshare-uts',
      '--die-with-parent',
      '--new-session',
    ];
    const files = [
      ...rootFolders(),
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      ...(bundled === undefined ? [] : ['--ro-bind', bundled, '/opt/tendon/executor']),
    ];
    const environment = Object.entries(this.#environment(container)).flatMap(([name, value]) => ['--setenv', name, value]);
    const args = [
      ...walls,
      '--cap-drop',
      'ALL',
      ...files,
      ...this.#mounts(container),
      '--clearenv',
      ...environment,
      '--chdir',
      workingDir,
      '--',
    ];
    const expanded = command.map((word) => word.replaceAll(/\$\((\w+)\)/g, (_, name: string) => this.#environment(container)[name] ?? ''));
    const child = spawn('bwrap', [...args, ...expanded], {
      stdio: ['ignore', 'ignore', process.env.TENDON_SHOW_PODS ? 'inherit' : 'ignore'],
    });
    this.#child = child;
    this.#exit = new Promise((resolve) => {
      child.once('error', () => resolve(128));
      child.once('exit', (code) => resolve(code ?? 137));
    });
    return this.#exit;
  }

  #environment({ env = [] }: Container): Record<string, string> {
    const fields: Record<string, string> = { 'status.podIP': this.#ip, 'metadata.uid': this.#uid, 'metadata.name': this.name };
    const own = env.map(({ name, value, valueFrom }) => [name, value ?? fields[valueFrom?.fieldRef.fieldPath ?? ''] ?? ''] as const);
    return { PATH: '/usr/local/bin:/usr/bin:/bin', ...Object.fromEntries(own) };
  }

  #mounts({ volumeMounts = [] }: Container): readonly string[] {
    return volumeMounts.flatMap(({ name, mountPath, subPath = '', readOnly = false }) => {
      const claim = this.#spec.volumes?.find((volume) => volume.name === name)?.persistentVolumeClaim?.claimName;
      const folder = claim === undefined ? join(this.#node.root, this.#uid, name) : join(this.#node.root, 'claims', claim);
      const { workspace } = this.#node.options;
      const source = subPath === 'workspace' && workspace !== undefined ? workspace : join(folder, subPath);
      mkdirSync(source, { recursive: true });
      return [readOnly ? '--ro-bind' : '--bind', source, mountPath];
    });
  }

  async #status(status: object): Promise<void> {
    await this.#call('PATCH', '/status', { status });
  }

  /** As a kubelet does: while the API server is away it is asked again. */
  async #call(method: 'POST' | 'PATCH' | 'DELETE', below: string, body: object): Promise<void> {
    const path = `/api/v1/namespaces/${this.#node.namespace}/pods/${this.name}${below}`;
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    for (;;) {
      try {
        return void (await this.#node.client.json({ method, path, body, type }));
      } catch (error) {
        if (this.#node.closing.aborted || (error instanceof ApiError && error.status === 404)) return;
        if (error instanceof ApiError && error.status < 500) throw error;
        await delay(AGAIN_MS, undefined, { signal: this.#node.closing }).catch(() => {});
      }
    }
  }
}

function blank({ name, image }: Container): object {
  return { name, image, imageID: image, restartCount: 0 };
}

function ended(container: Container, exitCode: number): ContainerStatus {
  return {
    ...(blank(container) as ContainerStatus),
    ...{ ready: false },
    state: { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' } },
  };
}

function rootFolders(): readonly string[] {
  return ROOT.flatMap((path) => {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry === undefined) return [];
    return entry.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
  });
}
