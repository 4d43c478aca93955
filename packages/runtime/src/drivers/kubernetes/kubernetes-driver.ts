import { join } from 'node:path';
import { INCARNATION } from '../../incarnation.ts';
import type { Probe, SandboxDriver, SandboxHandle, SandboxSpec, StartOptions } from '../driver.ts';
import { INSIDE } from '../start/inside.ts';
import { ClusterProblem, explainCluster } from './api/api-error.ts';
import type { Pod, SandboxClaim } from './cluster-objects.ts';
import { awaitedConfig, configurePod } from './configure-pod.ts';
import type { KubernetesOptions } from './kubernetes-options.ts';
import { sandboxClaim } from './manifests/installation.ts';
import {
  claimName,
  CONTAINER,
  EXECUTOR_PORT,
  FRESH_ANNOTATION,
  INCARNATION_LABEL,
  ofInstallation,
  OWNER_LABEL,
  ownerLabel,
} from './manifests/names.ts';
import { podSpec } from './manifests/pod-spec.ts';
import { openCluster, type OpenCluster } from './open-cluster.ts';
import { boundSandbox, resume, runningPod, setLease, suspend } from './pod-lifecycle.ts';

/** For the sandbox's shutdownTime (KUB3): later than the executor's own lease, at whose end it stores its state and ends. */
const LEASE_FACTOR = 2;
const END_MS = 60_000;
/** Time for a start to report why it failed, after its own deadline has passed. */
const REPORT_MS = 10_000;

/**
 * Sandboxes in pods, through agent-sandbox. As long as a conversation has a workspace, it has one claim, and that has one sandbox with a volume; an
 * incarnation is one pod of the sandbox. Owns the objects with the label of its installation, but not the cluster or its nodes.
 *
 * KUB1  A pod runs one incarnation: its executor is configured once, and the next incarnation gets another pod.
 * KUB2  A pod cannot open connections. It only accepts them, and its traffic goes through the egress proxy of this server.
 * KUB3  A sandbox whose servers are all gone ends at its shutdownTime; its volume stays until the conversation is deleted.
 * KUB4  While the API server is away, a pod that was alive counts as alive.
 */
export function createKubernetesDriver(options: KubernetesOptions): SandboxDriver {
  let opening: Promise<OpenCluster> | undefined;
  let open: OpenCluster | undefined;

  function cluster(): Promise<OpenCluster> {
    opening ??= openCluster(options).then((opened) => (open = opened));
    opening.catch(() => (opening = undefined));
    return opening;
  }

  async function start(spec: SandboxSpec, { signal, onProgress }: StartOptions): Promise<SandboxHandle> {
    const within = AbortSignal.any([signal, AbortSignal.timeout(options.startSeconds * 1000)]);
    try {
      return await startPod(await cluster(), options, spec, { signal: within, onProgress });
    } catch (error) {
      signal.throwIfAborted();
      if (within.aborted && !(error instanceof ClusterProblem)) throw tooSlow(options.startSeconds);
      throw explainCluster(error);
    }
  }

  const alive = (handle: SandboxHandle): boolean => {
    if (handle.pod === undefined) return false;
    if (open === undefined) return true; // KUB4
    return isRunning(open.pods.get(handle.pod.name), handle.pod.uid);
  };

  return {
    name: 'kubernetes',
    whenIdle: 'hibernate',
    mountsReadOnly: true,
    startMs: options.startSeconds * 1000 + REPORT_MS,
    probe: () => cluster().then((opened) => describe(opened, options), refusal),
    start,
    isAlive: alive,
    async end({ pod }) {
      if (pod !== undefined) await endPod(await cluster(), options.installation, pod);
    },
    endIncarnations: async (incarnations) => endIncarnations(await cluster(), options.installation, incarnations),
    strays: async (stateRoot) => livingIncarnations(await cluster(), ownerLabel(stateRoot)),
    async extendLease({ pod }, seconds) {
      if (pod !== undefined) await setLease(await cluster(), pod.name, leaseEnd(seconds));
    },
    async forget(conversationId, { workspace }) {
      const opened = await cluster();
      const name = claimName(options.installation, conversationId);
      // Deleting the claim deletes the sandbox, the pod and the volume. Otherwise the next start removes everything but the workspace.
      if (workspace) await deleteClaim(opened, name);
      else await opened.objects.claims.patch(name, { metadata: { annotations: { [FRESH_ANNOTATION]: 'true' } } });
    },
    lastLines: async ({ pod }) => (pod === undefined ? '' : (await cluster()).objects.logOf(pod.name, CONTAINER)),
    remote: { headers: ({ pod }) => keyHeader(open, pod?.incarnation) },
  };
}

function keyHeader(open: OpenCluster | undefined, incarnation: string | undefined): Readonly<Record<string, string>> {
  return open === undefined || incarnation === undefined ? {} : { 'x-session-api-key': open.key.executorKey(incarnation) };
}

async function startPod(
  opened: OpenCluster,
  options: KubernetesOptions,
  spec: SandboxSpec,
  { signal, onProgress }: StartOptions,
): Promise<SandboxHandle> {
  const { incarnation, isReadOnly, leaseSeconds } = spec;
  const { objects, key } = opened;
  const { claim, isNew } = await ownClaim(opened, options, spec, signal);
  const sandbox = await boundSandbox(opened, claim, signal);
  const ends = leaseEnd(Math.max(leaseSeconds, options.startSeconds));
  if (isNew && !isReadOnly) await setLease(opened, sandbox, ends);
  else {
    // End any pod that there is: it may be of another incarnation (KUB1) or another release.
    await suspend(opened, sandbox, signal);
    await resume(opened, sandbox, podSpec(options, { publicKey: key.publicKey, isReadOnly }), ends, signal);
  }
  const { pod, ip } = await runningPod(opened, claim.metadata.name, sandbox, { signal, onProgress });
  const url = `http://${ip.includes(':') ? `[${ip}]` : ip}:${EXECUTOR_PORT}`;
  const isFresh = claim.metadata.annotations?.[FRESH_ANNOTATION] !== undefined;
  const awaited = awaitedConfig(spec, { key: key.executorKey(incarnation), isFresh });
  await configurePod({ url, place: pod.metadata.uid! }, { awaited, key }, signal);
  // From now on the sandbox has data of the conversation, so it must not delete itself any more.
  await objects.claims.patch(
    claim.metadata.name,
    { metadata: { annotations: { [FRESH_ANNOTATION]: null } }, spec: { lifecycle: null } },
    signal,
  );
  return {
    ...{ url, groups: [], workspace: INSIDE.workspace, pod: { name: sandbox, uid: pod.metadata.uid!, incarnation } },
    ...((isNew || isFresh) && { isNew: true as const }),
  };
}

/** Creates or takes over the conversation's claim for this incarnation. Its name is derived, so any server finds it. */
async function ownClaim(
  { objects }: OpenCluster,
  { installation, startSeconds }: KubernetesOptions,
  { conversationId, incarnation, folders }: SandboxSpec,
  signal: AbortSignal,
): Promise<{ readonly claim: SandboxClaim; readonly isNew: boolean }> {
  const expiresAt = new Date(Date.now() + (2 * startSeconds + 600) * 1000);
  const owner = ownerLabel(join(folders.home, '../..'));
  const made = await objects.claims.create(sandboxClaim(installation, { conversationId, incarnation, owner, expiresAt }), signal);
  if (made !== undefined) return { claim: made, isNew: true };
  const name = claimName(installation, conversationId);
  const there = await objects.claims.get(name, signal);
  // The answer to an earlier attempt was lost.
  if (there?.metadata.labels?.[INCARNATION_LABEL] === incarnation) return { claim: there, isNew: true };
  const claim = await objects.claims.patch(
    name,
    { metadata: { labels: { [INCARNATION_LABEL]: incarnation, [OWNER_LABEL]: owner } } },
    signal,
  );
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) {
    throw new ClusterProblem(`the claim ${name} of the conversation is being deleted`, 'Try again when it is gone.');
  }
  return { claim, isNew: false };
}

async function endIncarnations(opened: OpenCluster, installation: string, incarnations: readonly string[]): Promise<void> {
  for (const incarnation of incarnations.filter((name) => INCARNATION.test(name))) {
    const { items } = await opened.objects.claims.list(`${ofInstallation(installation)},${INCARNATION_LABEL}=${incarnation}`);
    for (const claim of items) await endClaim(opened, claim);
  }
}

/** Ends the pod, unless another server has taken the claim over: then the name means a new pod, which must not be ended. */
async function endPod(opened: OpenCluster, installation: string, { name, incarnation }: NonNullable<SandboxHandle['pod']>): Promise<void> {
  const { items } = await opened.objects.claims.list(`${ofInstallation(installation)},${INCARNATION_LABEL}=${incarnation}`);
  if (items.length > 0) await suspend(opened, name, AbortSignal.timeout(END_MS));
}

/** Suspends the sandbox of the claim, or deletes the claim if it never started and so has no data. */
async function endClaim(opened: OpenCluster, claim: SandboxClaim): Promise<void> {
  if (claim.spec.lifecycle) return deleteClaim(opened, claim.metadata.name);
  const sandbox = claim.status?.sandbox?.name;
  if (sandbox) await suspend(opened, sandbox, AbortSignal.timeout(END_MS));
}

async function deleteClaim(opened: OpenCluster, name: string): Promise<void> {
  const sandbox = (await opened.objects.claims.get(name))?.status?.sandbox?.name;
  if (sandbox) await suspend(opened, sandbox, AbortSignal.timeout(END_MS));
  await opened.objects.claims.delete(name);
}

/** The living incarnations of one state root of this installation. */
function livingIncarnations({ claims, pods }: OpenCluster, owner: string): readonly string[] {
  return claims.all().flatMap(({ metadata, status }) => {
    const incarnation = metadata.labels?.[INCARNATION_LABEL] ?? '';
    const isOurs = metadata.labels?.[OWNER_LABEL] === owner && INCARNATION.test(incarnation);
    return isOurs && pods.get(status?.sandbox?.name ?? '') !== undefined ? [incarnation] : [];
  });
}

function isRunning(pod: Pod | undefined, uid: string): boolean {
  return pod?.metadata.uid === uid && pod.metadata.deletionTimestamp === undefined && pod.status?.phase === 'Running';
}

function leaseEnd(seconds: number): Date {
  return new Date(Date.now() + LEASE_FACTOR * seconds * 1000);
}

function tooSlow(seconds: number): ClusterProblem {
  return new ClusterProblem(
    `the pod did not run after ${seconds} seconds`,
    'kubectl describe sandbox and kubectl describe pod say what it waits for; SANDBOX_KUBERNETES_START_SECONDS gives it longer.',
  );
}

function describe({ namespace, version }: OpenCluster, { runtimeClass, installation, warm }: KubernetesOptions): Probe {
  const walls = runtimeClass === undefined ? 'pods' : `pods of the RuntimeClass ${runtimeClass}`;
  return {
    available: true,
    strength: 'container',
    description: `${walls} in the namespace ${namespace} of Kubernetes ${version}, as ${installation}${warm > 0 ? `, ${warm} of them waiting` : ''}`,
    limits: [
      'that pods reach nothing but this server holds only where the network plugin of the cluster enforces network policies',
      'the number of processes is limited by the kubelet alone (podPidsLimit)',
    ],
  };
}

function refusal(error: unknown): Probe {
  const { reason, fix } = explainCluster(error);
  return { available: false, reason, fix };
}
