import { setTimeout as delay } from 'node:timers/promises';
import { explainCluster, ClusterProblem } from './api/api-error.ts';
import type { PatchOperation } from './api/resources.ts';
import type { WatchedObjects } from './api/watch-objects.ts';
import type { ClusterObjects, Pod, Sandbox, SandboxClaim } from './cluster-objects.ts';
import { judgeClaim, judgePod } from './judge-pod.ts';
import { timeOf } from './manifests/installation.ts';

/** What the driver watches in its namespace. */
export interface ClusterView {
  readonly objects: ClusterObjects;
  readonly pods: WatchedObjects<Pod>;
  readonly claims: WatchedObjects<SandboxClaim>;
}

export type OnProgress = (text: string) => void;

const LOOK_MS = 150;
const CONTROLLER_MS = 20_000;

/** Resolves with the name of the sandbox that agent-sandbox has assigned to a claim. Rejects with a `ClusterProblem`. */
export async function boundSandbox({ claims }: ClusterView, claim: SandboxClaim, signal: AbortSignal): Promise<string> {
  const silence = AbortSignal.timeout(CONTROLLER_MS);
  let last: ClusterProblem | undefined;
  try {
    return await claims.until(
      () => {
        const now = claims.get(claim.metadata.name);
        if (now === undefined || now.metadata.uid !== claim.metadata.uid) return undefined;
        const judgement = judgeClaim(now);
        last = judgement?.problem;
        if (judgement?.isFinal) throw judgement.problem;
        return now.status?.sandbox?.name || undefined;
      },
      AbortSignal.any([signal, silence]),
    );
  } catch (error) {
    if (error instanceof ClusterProblem || (signal.aborted && last === undefined)) throw error;
    throw (
      last ??
      new ClusterProblem(
        'no controller answers the claim of a sandbox',
        'Check that agent-sandbox runs, with its extensions (--extensions).',
      )
    );
  }
}

/** Resolves with the running pod; rejects with the `ClusterProblem` that prevents it from running. */
export async function runningPod(
  { pods, claims }: ClusterView,
  claim: string,
  sandbox: string,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress?: OnProgress | undefined },
): Promise<{ readonly pod: Pod; readonly ip: string }> {
  let progress = '';
  let last: ClusterProblem | undefined;
  const report = (text: string): void => {
    if (text !== progress) onProgress?.(text);
    progress = text;
  };
  const look = () => {
    const pod = pods.get(sandbox);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) {
      const now = claims.get(claim);
      const refused = now && judgeClaim(now);
      last = refused?.problem ?? last;
      if (refused?.isFinal) throw refused.problem;
      return undefined;
    }
    const judgement = judgePod(pod);
    if (judgement.state === 'failed') throw judgement.problem;
    if (judgement.state === 'running') return { pod, ip: judgement.ip };
    last = judgement.problem;
    report(judgement.progress);
    return undefined;
  };
  try {
    // A refused claim changes no pod, so watch claims too.
    const stop = new AbortController();
    const within = AbortSignal.any([signal, stop.signal]);
    return await Promise.race([pods.until(look, within), claims.until(look, within)]).finally(() => stop.abort());
  } catch (error) {
    throw signal.aborted && last !== undefined ? last : error;
  }
}

/** Makes agent-sandbox run the sandbox again, in a pod of this shape. */
export async function resume(
  { objects }: ClusterView,
  sandbox: string,
  podSpec: object,
  leaseEnds: Date,
  signal: AbortSignal,
): Promise<void> {
  const change: PatchOperation[] = [
    { op: 'add', path: '/spec/podTemplate/spec', value: podSpec },
    ...leaseOperations(leaseEnds),
    { op: 'add', path: '/spec/operatingMode', value: 'Running' },
  ];
  await objects.sandboxes.patch(sandbox, change, signal);
}

/** The time at which a sandbox ends if all of its servers have died. Its volume stays. */
export async function setLease({ objects }: ClusterView, sandbox: string, ends: Date): Promise<void> {
  await objects.sandboxes.patch(sandbox, leaseOperations(ends));
}

function leaseOperations(ends: Date): PatchOperation[] {
  return [
    { op: 'add', path: '/spec/shutdownPolicy', value: 'Retain' },
    { op: 'add', path: '/spec/shutdownTime', value: timeOf(ends) },
  ];
}

/** Ends the pod of a sandbox. Resolves when there is none and agent-sandbox will not create another; a missing one is fine. */
export async function suspend(view: ClusterView, sandbox: string, signal: AbortSignal): Promise<void> {
  const { objects, pods } = view;
  try {
    let now = await objects.sandboxes.patch(sandbox, { spec: { operatingMode: 'Suspended' } }, signal);
    const generation = generationOf(now);
    for (; now !== undefined && !isSettled(now, generation); now = await objects.sandboxes.get(sandbox, signal))
      await delay(LOOK_MS, undefined, { signal });
    // The condition comes with the request to end the pod.
    while ((await objects.pods.get(sandbox, signal)) !== undefined) await delay(LOOK_MS, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw explainCluster(error);
    const node = pods.get(sandbox)?.spec?.nodeName;
    throw new ClusterProblem(
      `the pod ${sandbox} does not end${node === undefined ? '' : ` on the node ${node}`}`,
      'A node that is lost confirms nothing: delete it (kubectl delete node), or the pod (kubectl delete pod --force) once it certainly runs no more.',
    );
  }
}

function generationOf(object: Sandbox | undefined): number {
  return (object?.metadata as { readonly generation?: number } | undefined)?.generation ?? 0;
}

/** Whether agent-sandbox has noticed the suspension, or the sandbox has expired, after which it notices nothing else. */
function isSettled({ status }: Sandbox, generation: number): boolean {
  return (status?.conditions ?? []).some(({ type, status: is, reason, ...rest }) => {
    const observed = (rest as { readonly observedGeneration?: number }).observedGeneration ?? 0;
    return (type === 'Suspended' && is === 'True' && observed >= generation) || (type === 'Ready' && reason === 'SandboxExpired');
  });
}
