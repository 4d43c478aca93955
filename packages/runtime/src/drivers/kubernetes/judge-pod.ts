import { explainCluster, type ClusterProblem } from './api/api-error.ts';
import type { ContainerStatus, Pod, SandboxClaim } from './cluster-objects.ts';
import { CONTAINER } from './manifests/names.ts';

/** How far a pod is on its way to a running sandbox. */
export type PodJudgement =
  | { readonly state: 'running'; readonly ip: string }
  /** `problem`: what is delaying it, if that may still resolve by itself. */
  | { readonly state: 'waiting'; readonly progress: string; readonly problem?: ClusterProblem }
  | { readonly state: 'failed'; readonly problem: ClusterProblem };

/** The kubelet retries these for ever; the start fails at once. */
const HOPELESS =
  /^(?:ImagePullBackOff|ErrImageNeverPull|InvalidImageName|ImageInspectError|CreateContainerConfigError|CreateContainerError|RunContainerError|StartError)$/;

/** Pure. */
export function judgePod(pod: Pod): PodJudgement {
  const { phase = 'Pending', podIP, reason, message, conditions = [] } = pod.status ?? {};
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  if (phase === 'Failed' || phase === 'Succeeded') return failed(endOf(statuses) ?? [reason, message].filter(Boolean).join(': '));
  const hopeless = statuses.find(({ state }) => HOPELESS.test(state?.waiting?.reason ?? ''));
  if (hopeless !== undefined) return failed(wordsOf(hopeless));
  const main = pod.status?.containerStatuses?.find(({ name }) => name === CONTAINER);
  if (main?.state?.running !== undefined && podIP !== undefined) return { state: 'running', ip: podIP };
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False') {
    const words = `${scheduled.reason ?? 'Unschedulable'}: ${scheduled.message ?? ''}`;
    return { state: 'waiting', progress: 'no node has space for it yet', problem: explainCluster(new Error(words)) };
  }
  if (pod.spec?.nodeName === undefined) return { state: 'waiting', progress: 'looking for a node' };
  const pulling = statuses.find(({ state }) => state?.waiting?.reason === 'ErrImagePull');
  if (pulling !== undefined)
    return { state: 'waiting', progress: 'pulling its image', problem: explainCluster(new Error(wordsOf(pulling))) };
  const isInjecting = pod.status?.initContainerStatuses?.some(({ state }) => state?.running !== undefined) === true;
  return {
    state: 'waiting',
    progress: isInjecting ? `bringing Tendon into it on ${pod.spec.nodeName}` : `pulling its image on ${pod.spec.nodeName}`,
  };
}

/** Why agent-sandbox does not create the claimed sandbox; `isFinal`: waiting will not help. Pure. */
export function judgeClaim(claim: SandboxClaim): { readonly problem: ClusterProblem; readonly isFinal: boolean } | undefined {
  const ready = claim.status?.conditions?.find(({ type }) => type === 'Ready');
  const { status, reason = '', message = '' } = ready ?? {};
  if (status !== 'False' || !(TROUBLED.test(reason) || FINAL.test(reason))) return undefined;
  // It retries after refusals and missing objects: only what an operator must change is final.
  const isFinal = FINAL.test(reason) || FINAL_WORDS.test(message);
  return { problem: explainCluster(new Error(message.replace(/^Error seen: /, '') || reason)), isFinal };
}

const FINAL = /^(?:InvalidMetadata|EnvVarsInjectionRejected|VolumeClaimTemplatesError)$/;
const FINAL_WORDS =
  /exceeded quota|admission webhook|denied (?:the )?request|violates PodSecurity|is invalid|(?:max|min)imum \S+ usage per|RuntimeClass .*not found/i;
const TROUBLED = /^(?:ReconcilerError|TemplateNotFound|WarmPoolNotFound)$/;

/** Why the pod ended, according to the first container that failed. */
function endOf(statuses: readonly ContainerStatus[]): string | undefined {
  const ends = statuses.flatMap(({ name, state }) => (state?.terminated === undefined ? [] : [{ name, ...state.terminated }]));
  const worst = ends.find(({ exitCode }) => exitCode !== 0) ?? ends.at(-1);
  if (worst === undefined) return undefined;
  const { name, exitCode, reason, message } = worst;
  if (reason === 'OOMKilled') return `its memory was used up (SANDBOX_MEMORY)`;
  return `the container ${name} ended with exit code ${exitCode}${message ? `: ${message.trim().split('\n').at(-1)}` : ''}`;
}

function wordsOf({ state }: ContainerStatus): string {
  return [state?.waiting?.reason, state?.waiting?.message].filter(Boolean).join(': ');
}

function failed(words: string): PodJudgement {
  return { state: 'failed', problem: explainCluster(new Error(words || 'the pod ended')) };
}
