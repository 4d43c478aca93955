import { expect, it } from 'vitest';
import { ApiError, ApiUnreachable, ClusterProblem, explainCluster } from './api/api-error.ts';
import type { Pod, SandboxClaim } from './cluster-objects.ts';
import { judgeClaim, judgePod } from './judge-pod.ts';

const pod = (status: Pod['status'], nodeName?: string): Pod => ({
  metadata: { name: 'p' },
  spec: nodeName === undefined ? {} : { nodeName },
  status: status!,
});
const waiting = (reason: string, message = ''): Pod =>
  pod({ phase: 'Pending', containerStatuses: [{ name: 'sandbox', state: { waiting: { reason, message } } }] }, 'node-1');
const claim = (reason: string, message: string): SandboxClaim => ({
  metadata: { name: 'c' },
  spec: { warmPoolRef: { name: 'w' } },
  status: { conditions: [{ type: 'Ready', status: 'False', reason, message }] },
});

it('SB1004: what a pod waits for is reported while it waits', () => {
  expect(judgePod(pod({}))).toEqual({ state: 'waiting', progress: 'looking for a node' });
  expect(judgePod(waiting('ContainerCreating'))).toEqual({ state: 'waiting', progress: 'pulling its image on node-1' });
  const initContainerStatuses = [{ name: 'tendon', state: { running: {} } }];
  expect(judgePod(pod({ phase: 'Pending', initContainerStatuses }, 'node-1'))).toMatchObject({
    progress: 'bringing Tendon into it on node-1',
  });
  const full = pod({
    conditions: [
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available: 3 Insufficient memory.' },
    ],
  });
  expect(judgePod(full)).toMatchObject({
    ...{ state: 'waiting', progress: 'no node has space for it yet' },
    problem: {
      reason: expect.stringContaining('no node has space for the sandbox (Unschedulable: 0/3') as string,
      fix: expect.stringContaining('SANDBOX_MEMORY') as string,
    },
  });
  expect(judgePod(waiting('ErrImagePull', 'failed to pull'))).toMatchObject({
    state: 'waiting',
    problem: { fix: expect.stringContaining('imagePullSecrets') as string },
  });
  const running = pod({ phase: 'Running', podIP: '10.1.2.3', containerStatuses: [{ name: 'sandbox', state: { running: {} } }] }, 'node-1');
  expect(judgePod(running)).toEqual({ state: 'running', ip: '10.1.2.3' });
});

it('SB1005: what cannot be started fails at once, with the words of the cluster and what to do', () => {
  const failures: readonly (readonly [Pod, RegExp])[] = [
    [waiting('ImagePullBackOff', 'Back-off pulling image "nowhere"'), /cannot be pulled.*nowhere.*SANDBOX_BASE_CONTAINER_IMAGE/],
    [waiting('InvalidImageName'), /cannot be pulled/],
    [waiting('CreateContainerConfigError', 'image has runAsNonRoot and image will run as root'), /cannot be started.*runAsNonRoot/],
    [
      pod({ phase: 'Failed', containerStatuses: [{ name: 'sandbox', state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }] }),
      /memory was used up/,
    ],
    [
      pod({
        phase: 'Failed',
        initContainerStatuses: [{ name: 'tendon', state: { terminated: { exitCode: 1, message: 'first\nno space' } } }],
      }),
      /tendon ended with exit code 1: no space/,
    ],
    [pod({ phase: 'Failed', reason: 'Evicted', message: 'the node was low on memory' }), /Evicted: the node was low on memory/],
    [pod({ phase: 'Succeeded' }), /the pod ended/],
  ];
  for (const [failed, words] of failures) {
    const judgement = judgePod(failed);
    expect(judgement).toMatchObject({ state: 'failed', problem: expect.any(ClusterProblem) as unknown });
    expect(judgement.state === 'failed' && judgement.problem.message).toMatch(words);
  }
});

it('SB1005: a claim that is refused for good says so; what agent-sandbox tries again is only remembered', () => {
  expect(judgeClaim(claim('ReconcilerError', 'Error seen: pods "x" is forbidden: exceeded quota: agents'))).toMatchObject({
    isFinal: true,
    problem: { reason: expect.stringContaining('quota') as string },
  });
  expect(judgeClaim(claim('ReconcilerError', 'Error seen: admission webhook "policy.example.org" denied the request: no'))).toMatchObject({
    isFinal: true,
  });
  for (const words of [
    'maximum memory usage per Container is 1Mi, but limit is 2147483648',
    'pod rejected: RuntimeClass "kata" not found',
    "ValidatingAdmissionPolicy 'no-such-pods' with binding 'no-such-pods' denied request: not this one",
    'violates PodSecurity "restricted:latest": runAsUser=0',
  ])
    expect(judgeClaim(claim('ReconcilerError', `Error seen: pods "x" is forbidden: ${words}`))).toMatchObject({ isFinal: true });
  expect(judgeClaim(claim('ReconcilerError', 'Error seen: serviceaccount "default" not found'))).toMatchObject({ isFinal: false });
  expect(judgeClaim(claim('TemplateNotFound', 'not yet'))).toMatchObject({ isFinal: false });
  expect(judgeClaim(claim('DependenciesNotReady', ''))).toBeUndefined();
  expect(judgeClaim({ metadata: { name: 'c' }, spec: { warmPoolRef: { name: 'w' } } })).toBeUndefined();
});

it('SB1005: refusals of the API server become sentences', () => {
  const says = (error: unknown): string => explainCluster(error).message;
  expect(says(new ApiError(403, 'sandboxclaims is forbidden: User "x" cannot create', 'Forbidden'))).toMatch(
    /may not do that in the cluster.*docs\/kubernetes.md/,
  );
  expect(says(new ApiError(401, 'Unauthorized'))).toMatch(/does not accept the token/);
  expect(says(new ApiError(403, 'pods "x" is forbidden: violates PodSecurity "restricted:latest"'))).toMatch(
    /does not admit pods like these/,
  );
  expect(says(new ApiError(403, 'pods "x" is forbidden: RuntimeClass "kata" not found'))).toMatch(/RUNTIME_CLASS/);
  expect(says(new Error('pod has unbound immediate PersistentVolumeClaims'))).toMatch(/STORAGE_CLASS/);
  expect(says(new ApiUnreachable('10.0.0.1:443', Object.assign(new Error('x'), { code: 'ECONNREFUSED' })))).toMatch(
    /does not answer \(ECONNREFUSED\)\. Check that/,
  );
  expect(says(new ApiUnreachable('h', Object.assign(new Error('x'), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })))).toMatch(
    /certificate-authority/,
  );
  // As agent-sandbox joins what it has come across.
  expect(says(new Error('PVC "work-x" is owned by Sandbox/x, not by sandbox "x"\npods "x" is forbidden: exceeded quota: small'))).toMatch(
    /^the quota of the namespace is used up \(pods "x" is forbidden: exceeded quota: small\)/,
  );
  expect(says(new Error('something new'))).toMatch(/^something new\. kubectl describe/);
});
