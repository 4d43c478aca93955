import { expect, it } from 'vitest';
import { readConfig } from './config.ts';

const NEEDED = {
  RUNTIME: 'kubernetes',
  SANDBOX_KUBERNETES_INSTALLATION: 'acme',
  SANDBOX_KUBERNETES_EXECUTOR_IMAGE: 'registry.example.org/tendon:1',
};

function read(env: Readonly<Record<string, string>>) {
  const result = readConfig({ ...NEEDED, ...env });
  return result.ok ? result.config.kubernetes : result.problems.join('\n');
}

it('SB1000: a cluster has usual values for all but the name of the installation and its image', () => {
  expect(read({ KUBERNETES_SERVICE_HOST: '10.0.0.1', SANDBOX_DISK: '5g' })).toMatchObject({
    ...{ installation: 'acme', executorImage: 'registry.example.org/tendon:1', image: 'python:3.12-bookworm', userId: 1000, warm: 0 },
    access: { inCluster: '10.0.0.1:443', kubeconfig: undefined },
    serverLabels: { 'app.kubernetes.io/name': 'tendon' },
    limits: { diskBytes: 5 * 1024 ** 3 },
  });
  expect(read({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' })).toMatchObject({
    access: { inCluster: '[fd00::1]:6443' },
  });
  expect(readConfig({ SANDBOX_KUBERNETES_WARM: '3' })).toMatchObject({ ok: true, config: { kubernetes: undefined } });
});

it.each([
  [{ SANDBOX_KUBERNETES_INSTALLATION: '' }, /^SANDBOX_KUBERNETES_INSTALLATION: a name is needed/],
  [{ SANDBOX_KUBERNETES_EXECUTOR_IMAGE: '' }, /^SANDBOX_KUBERNETES_EXECUTOR_IMAGE: the image of Tendon is needed/],
  [{ SANDBOX_KUBERNETES_INSTALLATION: 'Not_a_name' }, /^SANDBOX_KUBERNETES_INSTALLATION: a name of small letters/],
  [{ SANDBOX_KUBERNETES_PLACEMENT: '{"hostNetwork": true}' }, /^SANDBOX_KUBERNETES_PLACEMENT/],
  [{ SANDBOX_KUBERNETES_PLACEMENT: 'nodes' }, /^SANDBOX_KUBERNETES_PLACEMENT: JSON is expected/],
  [{ SANDBOX_KUBERNETES_SERVER_LABELS: 'tendon' }, /^SANDBOX_KUBERNETES_SERVER_LABELS: labels are expected/],
])('SB1000: says what is missing or wrong in %j', (env, problem) => expect(read(env)).toMatch(problem));

it('SB1000: what the operator places is taken as the API has it', () => {
  const placement = { tolerations: [{ key: 'agents' }], nodeSelector: { pool: 'agents' } };
  expect(read({ SANDBOX_KUBERNETES_PLACEMENT: JSON.stringify(placement), SANDBOX_KUBERNETES_SERVER_LABELS: 'a/b=c,d=e' })).toMatchObject({
    placement,
    serverLabels: { 'a/b': 'c', d: 'e' },
  });
});
