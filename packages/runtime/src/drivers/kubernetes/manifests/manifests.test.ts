import { expect, it } from 'vitest';
import { limitsOf } from '../../../processes/control-group.ts';
import type { KubernetesOptions } from '../kubernetes-options.ts';
import { sandboxClaim, sandboxTemplate, timeOf, warmPool } from './installation.ts';
import { claimName } from './names.ts';
import { podSpec } from './pod-spec.ts';

const OPTIONS: KubernetesOptions = {
  ...{ access: {}, namespace: 'agents', installation: 'acme', serverLabels: { app: 'tendon' }, serverNamespace: undefined },
  ...{
    warm: 2,
    startSeconds: 300,
    image: 'python:3.12',
    mayPull: true,
    executorImage: 'registry.example.org/tendon:1',
    mountsImages: false,
  },
  limits: limitsOf({ memoryBytes: 2 * 1024 ** 3, cpus: 1.5, diskBytes: 5 * 1024 ** 3 }),
  requests: { cpus: 0.25, memoryBytes: 512 * 1024 ** 2 },
  ...{ userId: 1000, isRootReadOnly: true, runtimeClass: undefined, storageClass: undefined, seccompProfile: undefined, placement: {} },
};

interface SeenPod {
  readonly initContainers: readonly Record<string, unknown>[];
  readonly containers: readonly { readonly volumeMounts: readonly Record<string, unknown>[]; readonly command: readonly string[] }[];
  readonly volumes: readonly Record<string, unknown>[];
}

const seen = (options: Partial<KubernetesOptions>, isReadOnly = false): SeenPod & Record<string, unknown> =>
  podSpec({ ...OPTIONS, ...options }, { publicKey: 'KEY', isReadOnly }) as unknown as SeenPod & Record<string, unknown>;

it('SB1000: a pod has no rights, no token of the cluster, no names to resolve, and nothing of its conversation', () => {
  const pod = seen({});
  expect(pod).toMatchObject({
    ...{ restartPolicy: 'Never', automountServiceAccountToken: false, enableServiceLinks: false, dnsPolicy: 'None' },
    securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000, seccompProfile: { type: 'RuntimeDefault' } },
  });
  for (const container of [...pod.initContainers, ...pod.containers]) {
    expect(container).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        privileged: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      resources: {
        limits: { cpu: '1500m', memory: String(2 * 1024 ** 3), 'ephemeral-storage': String(5 * 1024 ** 3) },
        requests: { cpu: '250m' },
      },
    });
  }
  expect(JSON.stringify(pod)).not.toMatch(/hostPath|hostNetwork|hostPID|secretKeyRef|"secret"/);
});

it('SB1000: what the operator chooses is in the pod: RuntimeClass, seccomp, user, and where it runs', () => {
  const placement = { nodeSelector: { pool: 'agents' }, imagePullSecrets: [{ name: 'registry' }] };
  expect(seen({ runtimeClass: 'gvisor', seccompProfile: 'tendon.json', userId: 2000, placement })).toMatchObject({
    ...{ runtimeClassName: 'gvisor', ...placement },
    securityContext: { runAsUser: 2000, seccompProfile: { type: 'Localhost', localhostProfile: 'tendon.json' } },
  });
  // Nothing of it goes before what makes it a sandbox.
  expect(seen({ placement: { nodeSelector: {} } })).toMatchObject({ restartPolicy: 'Never' });
});

it('SB1001: the executor comes from its image, copied or mounted, and is read-only in the sandbox', () => {
  const mountOf = (pod: SeenPod, path: string) => pod.containers[0]!.volumeMounts.find(({ mountPath }) => mountPath === path);
  const copied = seen({});
  expect(copied.volumes).toContainEqual({ name: 'tendon', emptyDir: {} });
  expect(mountOf(copied, '/opt/tendon')).toEqual({ name: 'tendon', mountPath: '/opt/tendon', readOnly: true });
  expect(JSON.stringify(copied.initContainers)).toContain('cp -R /opt/tendon/executor/. /injected');
  const mounted = seen({ mountsImages: true });
  expect(mounted.volumes).toContainEqual({ name: 'tendon', image: { reference: OPTIONS.executorImage, pullPolicy: 'IfNotPresent' } });
  expect(mountOf(mounted, '/opt/tendon')).toMatchObject({ readOnly: true, subPath: 'opt/tendon/executor' });
  expect(JSON.stringify(mounted.initContainers)).not.toContain('/injected');
  expect(mountOf(seen({}, true), '/workspace')).toMatchObject({ readOnly: true, subPath: 'workspace' });
  expect(mountOf(seen({}, true), '/home/tendon')).toMatchObject({ readOnly: false });
  expect(copied.containers[0]!.command.at(-1)).toContain('"host":"$(TENDON_POD_IP)"');
});

it('SB1002: nothing leaves a sandbox, and only the servers of Tendon connect to it', () => {
  expect(sandboxTemplate(OPTIONS, 'KEY').spec).toMatchObject({
    networkPolicyManagement: 'Managed',
    networkPolicy: {
      ingress: [{ from: [{ podSelector: { matchLabels: { app: 'tendon' } } }], ports: [{ protocol: 'TCP', port: 8700 }] }],
      egress: [],
    },
    service: false,
  });
  const other = sandboxTemplate({ ...OPTIONS, serverNamespace: 'tendon-system' }, 'KEY');
  expect(JSON.stringify(other)).toContain(
    '{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"tendon-system"}},"podSelector"',
  );
});

it('SB1003: claims are named by installation and conversation, and delete themselves unless they were started', () => {
  const expiresAt = new Date('2026-01-02T03:04:05.678Z');
  const claim = sandboxClaim('acme', { conversationId: 'Some/Conversation', incarnation: '00112233445566aa', owner: 'o', expiresAt });
  expect(claim).toMatchObject({
    metadata: { labels: { 'tendon.dev/installation': 'acme', 'tendon.dev/incarnation': '00112233445566aa' } },
    spec: { warmPoolRef: { name: 'tendon-acme' }, lifecycle: { shutdownTime: '2026-01-02T03:04:05Z', shutdownPolicy: 'Delete' } },
  });
  expect(claim.metadata.name).toMatch(/^tendon-[0-9a-f]{24}$/);
  expect(new Set(['a', 'b'].flatMap((installation) => ['1', '2'].map((id) => claimName(installation, id)))).size).toBe(4);
  expect(warmPool(OPTIONS)).toMatchObject({ spec: { replicas: 2, sandboxTemplateRef: { name: 'tendon-acme' } } });
  expect(timeOf(expiresAt)).toBe('2026-01-02T03:04:05Z');
});
