import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@tendon/testing';
import { parse } from 'yaml';
import { createApiClient, type ApiClient } from '../../drivers/kubernetes/api/api-client.ts';
import type { ClusterAccess } from '../../drivers/kubernetes/api/cluster-access.ts';
import { sandboxKinds } from './control-plane/programs.ts';
import { answered, ClusterProcess } from './control-plane/cluster-process.ts';

/**
 * A real control plane for tests: etcd, kube-apiserver with its usual admission and RBAC, of kube-controller-manager the collector of garbage, quotas and
 * service accounts, and the controller of agent-sandbox. There is no scheduler, no node and no network: `kubelet-stand-in.ts` passes for those.
 */
export interface ControlPlane {
  /** Of an administrator, in the namespace `agents`. */
  readonly access: ClusterAccess;
  readonly client: ApiClient;
  /** Of users who may do nothing but what a test allows them. */
  readonly server: ClusterAccess;
  readonly newcomer: ClusterAccess;
  /** SIGKILL; it stays away until `startApiServer`. */
  killApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  /** Makes the cluster forget every version before now. */
  compact(): Promise<void>;
  close(): Promise<void>;
}

const NAMESPACE = 'agents';
const TOKENS = { admin: 'token-of-an-administrator', server: 'token-of-a-server', newcomer: 'token-of-a-newcomer' } as const;
/** Admits no pod that could do more than ours says it can. */
const LEVEL = { 'pod-security.kubernetes.io/enforce': 'restricted' };
const CONTROLLERS = [
  'garbage-collector-controller',
  'persistentvolumeclaim-protection-controller',
  'resourcequota-controller',
  'serviceaccount-controller',
];

export async function startControlPlane(): Promise<ControlPlane> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-control-plane-'));
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const ca = makeFiles(folder);
  const accessOf = (token: string): ClusterAccess => ({
    ...{ url: `https://127.0.0.1:${port}`, ca, certificate: undefined, token: () => token, namespace: NAMESPACE },
  });
  const access = accessOf(TOKENS.admin);
  const client = createApiClient(access);
  writeFileSync(join(folder, 'kubeconfig'), kubeconfigOf(access, join(folder, 'cert.pem')));

  const etcd = new ClusterProcess('etcd', folder, etcdArguments(folder, etcdUrl, `http://127.0.0.1:${peerPort}`));
  const api = new ClusterProcess('kube-apiserver', folder, apiServerArguments(folder, etcdUrl, port));
  const controllers = [
    new ClusterProcess('kube-controller-manager', folder, managerArguments(folder), { staysUp: true }),
    new ClusterProcess('agent-sandbox-controller', folder, SANDBOX_CONTROLLER, {
      staysUp: true,
      env: { KUBECONFIG: join(folder, 'kubeconfig') },
    }),
  ];
  const isReady = () => answered('the API server', api, () => client.text({ method: 'GET', path: '/readyz' }));
  const all = [...controllers, api, etcd];
  const close = async (): Promise<void> => {
    for (const one of all) await one.end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    etcd.start();
    api.start();
    await isReady();
    await addKinds(client, api);
    for (const one of controllers) one.start();
    // Without it no pod is admitted.
    await answered('the account of pods', controllers[0]!, () =>
      client.text({ method: 'GET', path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default` }),
    );
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...{ access, client, server: accessOf(TOKENS.server), newcomer: accessOf(TOKENS.newcomer), close },
    killApiServer: () => api.end(),
    async startApiServer() {
      api.start();
      await isReady();
    },
    compact: () => compact(etcdUrl),
  };
}

/** A certificate that is its own authority, the key of service accounts, and who has which token. Returns the certificate. */
function makeFiles(folder: string): string {
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names, '-keyout', key, '-out', cert];
  execFileSync('openssl', request, { stdio: 'ignore' });
  execFileSync('openssl', ['genrsa', '-out', join(folder, 'account.key'), '2048'], { stdio: 'ignore' });
  writeFileSync(
    join(folder, 'tokens.csv'),
    `${TOKENS.admin},admin,admin,system:masters\n${TOKENS.server},server,server\n${TOKENS.newcomer},newcomer,newcomer\n`,
  );
  return readFileSync(cert, 'utf8');
}

function etcdArguments(folder: string, clients: string, peers: string): readonly string[] {
  return [
    ...[`--data-dir=${join(folder, 'etcd')}`, '--unsafe-no-fsync', `--initial-cluster=default=${peers}`],
    ...[`--listen-client-urls=${clients}`, `--advertise-client-urls=${clients}`],
    ...[`--listen-peer-urls=${peers}`, `--initial-advertise-peer-urls=${peers}`],
  ];
}

function apiServerArguments(folder: string, etcd: string, port: number): readonly string[] {
  const account = join(folder, 'account.key');
  return [
    ...[`--etcd-servers=${etcd}`, '--bind-address=127.0.0.1', `--secure-port=${port}`, '--service-cluster-ip-range=10.255.0.0/24'],
    ...[`--tls-cert-file=${join(folder, 'cert.pem')}`, `--tls-private-key-file=${join(folder, 'key.pem')}`],
    ...['--authorization-mode=RBAC', `--token-auth-file=${join(folder, 'tokens.csv')}`],
    ...['--service-account-issuer=https://tendon.test', `--service-account-key-file=${account}`],
    `--service-account-signing-key-file=${account}`,
  ];
}

function managerArguments(folder: string): readonly string[] {
  return [
    ...[`--kubeconfig=${join(folder, 'kubeconfig')}`, `--controllers=${CONTROLLERS.join(',')}`, '--leader-elect=false'],
    ...['--secure-port=0', '--kube-api-qps=200', '--kube-api-burst=400'],
  ];
}

const SANDBOX_CONTROLLER = [
  ...['--extensions', '--leader-elect=false', '--enable-webhook=false'],
  ...['--metrics-bind-address=0', '--health-probe-bind-address=0'],
];

interface Kind {
  readonly spec: { readonly group: string; readonly names: { readonly plural: string } };
}

/** The kinds of agent-sandbox, without the webhook that would convert older versions. The controller ends at once where one is not served. */
async function addKinds(client: ApiClient, api: ClusterProcess): Promise<void> {
  await client.json({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: NAMESPACE, labels: LEVEL } } });
  const kinds = sandboxKinds().map((text) => parse(text) as Kind);
  for (const kind of kinds) {
    const body = { ...kind, spec: { ...kind.spec, conversion: { strategy: 'None' } } };
    await client.json({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body });
  }
  for (const { spec } of kinds) {
    const { plural } = spec.names;
    await answered(plural, api, () => client.text({ method: 'GET', path: `/apis/${spec.group}/v1beta1/${plural}` }));
  }
}

/** Through etcd's own HTTP: the API server asks for it every five minutes. */
async function compact(etcd: string): Promise<void> {
  const ask = async (path: string, body: object) => {
    const answer = await fetch(`${etcd}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd answers ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { readonly header: { readonly revision: string } };
  };
  const { header } = await ask('range', { key: Buffer.from('/').toString('base64'), limit: 1 });
  await ask('compaction', { revision: header.revision, physical: true });
}

function kubeconfigOf({ url, token }: ClusterAccess, ca: string): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority': ca } }],
    users: [{ name: 'test', user: { token: token() } }],
  });
}
