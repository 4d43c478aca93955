/** The chart, rendered by Helm itself. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { buildHelm, helm } from './helm.ts';

// What Kubernetes' objects are is Kubernetes' to say.
/* oxlint-disable typescript/no-explicit-any */

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels: Readonly<Record<string, string>> };
  readonly [field: string]: any;
}

const BUILD_MS = 1_200_000;
const SECRET = ['--set', 'secret.existing=tendon-secrets'];
const set = (...values: readonly string[]) => values.flatMap((value) => ['--set', value]);
const EVERYTHING = set(
  ...['ingress.enabled=true', 'ingress.host=tendon.example.org', 'ingress.tlsSecret=tls', 'httpRoute.enabled=true'],
  ...['httpRoute.parentRefs[0].name=gateway', 'httpRoute.hostnames[0]=tendon.example.org', 'autoscaling.enabled=true'],
  ...['serviceMonitor.enabled=true', 'serviceMonitor.keySecret.name=reader', 'dashboard.enabled=true', 'sandbox.namespace=sandboxes'],
  ...['sandbox.runtimeClass=gvisor', 'sandbox.storageClass=fast', 'sandbox.image=debian:12', 'model=openai/gpt-4o', 'env.LOG_LEVEL=debug'],
);

function render(...options: readonly string[]): readonly Manifest[] {
  const documents = parseAllDocuments(helm('template', ...options));
  return documents.flatMap((document) => {
    expect(document.errors).toEqual([]);
    const manifest = document.toJS() as Manifest | null;
    return manifest ? [manifest] : [];
  });
}

const one = (all: readonly Manifest[], kind: string): Manifest => all.find((each) => each.kind === kind)!;
const containerOf = (all: readonly Manifest[]) => one(all, 'Deployment').spec.template.spec.containers[0];
const variablesOf = (all: readonly Manifest[]): Readonly<Record<string, any>> =>
  Object.fromEntries(containerOf(all).env.map(({ name, ...value }: { name: string }) => [name, value]));

beforeAll(buildHelm, BUILD_MS);

it('SV1256: Helm finds nothing wrong with the chart, with nothing and with everything switched on', () => {
  for (const options of [SECRET, [...SECRET, ...EVERYTHING]]) expect(helm('lint', ...options)).toContain('0 chart(s) failed');
  expect(
    render(...SECRET)
      .map(({ kind }) => kind)
      .toSorted(),
  ).toEqual(
    ['Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'Role', 'RoleBinding', 'Service', 'Service', 'ServiceAccount'].toSorted(),
  );
  const kinds = render(...SECRET, ...EVERYTHING).map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(['ConfigMap', 'HTTPRoute', 'HorizontalPodAutoscaler', 'Ingress', 'ServiceMonitor']));
});

it('SV1256: a pod has no rights, writes only to its own volumes, and gets secrets by reference', () => {
  const all = render(...SECRET);
  const pod = one(all, 'Deployment').spec.template.spec;
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } });
  const container = containerOf(all);
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual(['/var/lib/tendon', '/tmp']);
  const variables = variablesOf(all);
  for (const name of ['TENDON_DATABASE_URL', 'JWT_SECRET', 'SESSION_API_KEY', 'LLM_API_KEY'])
    expect(variables[name].valueFrom.secretKeyRef.name).toBe('tendon-secrets');
  expect(variables.TENDON_ADVERTISE_URL).toEqual({ value: 'http://$(POD_IP):3000' });
  expect(Object.keys(variables).indexOf('POD_IP')).toBeLessThan(Object.keys(variables).indexOf('TENDON_ADVERTISE_URL'));
  expect(all.some(({ kind }) => kind === 'Secret')).toBe(false);
});

it('SV1256: a pod is asked whether it is ready and alive, drains before it ends, and none ends before the next one is ready', () => {
  const { spec } = one(render(...SECRET, ...set('drainSeconds=90')), 'Deployment');
  const [container] = spec.template.spec.containers;
  expect(container.livenessProbe.httpGet.path).toBe('/alive');
  expect(container.readinessProbe.httpGet.path).toBe('/ready');
  expect(container.lifecycle.preStop.exec.command).toEqual(['/usr/local/bin/tendon', 'drain']);
  expect(container.env).toContainEqual({ name: 'TENDON_DRAIN_SECONDS', value: '90' });
  expect(spec.template.spec.terminationGracePeriodSeconds).toBe(120);
  expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
});

it('SV1256: the number of servers follows running conversations, or processors where no adapter answers', () => {
  const autoscaled = render(...SECRET, ...set('autoscaling.enabled=true'));
  expect(one(autoscaled, 'Deployment').spec.replicas).toBeUndefined();
  const [conversations, cpu] = one(autoscaled, 'HorizontalPodAutoscaler').spec.metrics;
  expect(conversations.pods.metric).toEqual({ name: 'tendon_conversations', selector: { matchLabels: { state: 'running' } } });
  expect(cpu.resource.name).toBe('cpu');
  expect(() =>
    render(...SECRET, ...set('autoscaling.enabled=true', 'autoscaling.cpuPercent=0', 'autoscaling.runningConversations=0')),
  ).toThrow('autoscaling needs');
});

it('SV1256: the account of a pod may do in the namespace of the sandboxes what their driver does, and nothing where there is none', () => {
  const all = render(...SECRET, ...set('sandbox.namespace=sandboxes'));
  const [role, binding] = [one(all, 'Role'), one(all, 'RoleBinding')];
  expect([role.metadata.namespace, binding.metadata.namespace, binding.subjects[0].namespace]).toEqual([
    'sandboxes',
    'sandboxes',
    'agents',
  ]);
  const verbs = role.rules.flatMap((rule: { verbs: readonly string[]; resources: readonly string[] }) => [
    ...rule.verbs,
    ...rule.resources,
  ]);
  expect(verbs).not.toContain('*');
  const remote = render(...SECRET, ...set('sandbox.runtime=remote', 'env.SANDBOX_REMOTE_RUNTIME_API_URL=http://sandboxes:3001'));
  expect(remote.filter(({ kind }) => kind === 'Role' || kind === 'RoleBinding')).toEqual([]);
  expect(one(remote, 'Deployment').spec.template.spec.automountServiceAccountToken).toBe(false);
});

it.each([
  ['no secret', [], 'secret.existing'],
  ['a value that there is not', [...SECRET, ...set('replica=2')], 'replica'],
  ['no server', [...SECRET, ...set('replicas=0')], 'replicas'],
  ['a short key', set('secret.create.jwtSecret=short', 'secret.create.databaseUrl=postgres://x'), 'jwtSecret'],
  ['a wrong runtime', [...SECRET, ...set('sandbox.runtime=local')], 'runtime'],
])('SV1257: %s is refused by name', (_name, options, words) => {
  expect(() => render(...options)).toThrow(words);
});

it('SV1257: secrets that the chart makes are in a Secret, and a change of one restarts the pods', () => {
  const made = (jwt: string) =>
    render(
      ...set('secret.create.databaseUrl=postgres://u:p@h/d?sslmode=disable', `secret.create.jwtSecret=${jwt}`),
      ...set('secret.create.sessionApiKey=the-key-of-a-session'),
    );
  const [first, second] = [made('a-secret-of-sixteen'), made('another-of-sixteen-or-more')];
  expect(one(first, 'Secret').stringData.jwtSecret).toBe('a-secret-of-sixteen');
  const mark = (all: readonly Manifest[]) => one(all, 'Deployment').spec.template.metadata.annotations['checksum/secret'];
  expect(mark(first)).not.toBe(mark(second));
});

it('SV1256: the dashboard of the chart is the one there is', () => {
  const root = join(import.meta.dirname, '../..');
  const text = one(render(...SECRET, ...set('dashboard.enabled=true')), 'ConfigMap').data['tendon.json'];
  expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(join(root, 'deploy/grafana/tendon.json'), 'utf8')));
});
