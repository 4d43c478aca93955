import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ClusterProblem } from './api-error.ts';

/** The address of the API server, and how this server authenticates. */
export interface ClusterAccess {
  /** Without a final slash. */
  readonly url: string;
  readonly ca: string | undefined;
  readonly certificate: { readonly cert: string; readonly key: string } | undefined;
  /** The current token: tokens of service accounts are rotated. */
  readonly token: () => string | undefined;
  /** The default namespace. */
  readonly namespace: string;
}

export interface AccessOptions {
  /** The path of a kubeconfig. Default: use the service account of the pod that this server runs in. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** `host:port` of the API server, from the environment of a pod. */
  readonly inCluster?: string | undefined;
}

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The kubelet rotates a token when a fifth of its lifetime is left, which is at least two minutes. */
const TOKEN_MS = 30_000;

/** Rejects with a `ClusterProblem`. */
export async function findAccess({ kubeconfig, context, inCluster }: AccessOptions): Promise<ClusterAccess> {
  if (kubeconfig !== undefined) return accessOf(await parseKubeconfig(kubeconfig), { context, folder: dirname(kubeconfig) });
  if (inCluster === undefined) {
    throw new ClusterProblem('no cluster is configured', 'Run this server in a pod, or name a kubeconfig in KUBECONFIG.');
  }
  return inPod(inCluster);
}

/** @internal */
export function inPod(address: string, folder: string = ACCOUNT): ClusterAccess {
  return {
    url: `https://${address}`,
    ca: read(`${folder}/ca.crt`),
    certificate: undefined,
    token: rotatingToken(`${folder}/token`),
    namespace: read(`${folder}/namespace`).trim(),
  };
}

interface Named<T> {
  readonly name?: string;
  readonly cluster?: T;
  readonly user?: T;
  readonly context?: T;
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads a kubeconfig as kubectl does. */
export interface Kubeconfig {
  readonly clusters?: readonly Named<Fields>[];
  readonly users?: readonly Named<Fields>[];
  readonly contexts?: readonly Named<Fields>[];
  readonly 'current-context'?: string;
}

async function parseKubeconfig(path: string): Promise<Kubeconfig> {
  const content = read(path);
  const { parse } = await import('yaml');
  try {
    return (parse(content) ?? {}) as Kubeconfig;
  } catch (error) {
    throw new ClusterProblem(`the kubeconfig ${path} is not YAML: ${(error as Error).message.split('\n')[0]}`, 'Correct it.');
  }
}

/** Throws a `ClusterProblem` if something is missing or not supported. @internal */
export function accessOf(
  file: Kubeconfig,
  { context: named, folder }: { readonly context: string | undefined; readonly folder: string },
): ClusterAccess {
  const name = named ?? file['current-context'] ?? '';
  const context = fieldsOf(file.contexts?.find((one) => one.name === name)?.context, `the context "${name}"`);
  const cluster = fieldsOf(file.clusters?.find((one) => one.name === context.cluster)?.cluster, `the cluster of the context "${name}"`);
  const user = fieldsOf(file.users?.find((one) => one.name === context.user)?.user, `the user of the context "${name}"`);
  for (const plugin of ['exec', 'auth-provider', 'username'] as const) {
    if (user[plugin] === undefined) continue;
    throw new ClusterProblem(
      `the kubeconfig logs in with ${plugin}, which a server cannot do by itself`,
      'Use the token of a service account (kubectl create token) or a client certificate.',
    );
  }
  if (cluster['insecure-skip-tls-verify'] === true) {
    throw new ClusterProblem('the kubeconfig does not check the certificate of the API server', 'Give it certificate-authority-data.');
  }
  const server = text(cluster.server);
  if (server === undefined || !server.startsWith('https://'))
    throw new ClusterProblem('the kubeconfig names no https:// server', 'Correct it.');
  const data = (fields: Fields, key: string): string | undefined => {
    const inline = text(fields[`${key}-data`]);
    if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
    const path = text(fields[key]);
    return path === undefined ? undefined : read(resolve(folder, path));
  };
  const [cert, key] = [data(user, 'client-certificate'), data(user, 'client-key')];
  const [token, tokenFile] = [text(user.token), text(user.tokenFile)];
  if (token === undefined && tokenFile === undefined && (cert === undefined || key === undefined)) {
    throw new ClusterProblem('the kubeconfig has neither a token nor a client certificate', 'Give its user one of them.');
  }
  return {
    url: server.replace(/\/+$/, ''),
    ca: data(cluster, 'certificate-authority'),
    certificate: cert === undefined || key === undefined ? undefined : { cert, key },
    token: tokenFile === undefined ? () => token : rotatingToken(resolve(folder, tokenFile)),
    namespace: text(context.namespace) ?? 'default',
  };
}

/** Rereads a file now and then. While the file is missing, the earlier contents stay in use. */
function rotatingToken(path: string): () => string {
  let token = read(path).trim();
  let readAt = performance.now();
  return () => {
    if (performance.now() - readAt < TOKEN_MS) return token;
    readAt = performance.now();
    try {
      token = readFileSync(path, 'utf8').trim() || token;
    } catch {
      // the kubelet is replacing the file
    }
    return token;
  };
}

function fieldsOf(found: Fields | undefined, what: string): Fields {
  if (found === undefined) throw new ClusterProblem(`the kubeconfig does not have ${what}`, 'Correct it, or SANDBOX_KUBERNETES_CONTEXT.');
  return found;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ClusterProblem(
      `${path} cannot be read (${(error as NodeJS.ErrnoException).code})`,
      'It shows the API server who this server is.',
    );
  }
}
