import { limitsOf, PLACEMENT_FIELDS, type KubernetesOptions, type Limits } from '@tendon/runtime';
import { z } from 'zod';
import type { ContainerConfig } from './container-config.ts';
import { count, flag, json, list, seconds, size } from './environment-values.ts';

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?$/;
const name = z.string().regex(NAME, 'a name of small letters, digits and hyphens is expected, of at most 42 characters');
const reference = z.string().regex(/^[\w][\w./:@-]*$/, 'the name of an image is expected, like registry.example.org/tendon:1.2');

const labels = list.transform((entries, { addIssue }) => {
  const pairs = entries.map((entry) => entry.split('='));
  if (pairs.length === 0 || pairs.some(([key = '', value, ...rest]) => key === '' || value === undefined || rest.length > 0))
    addIssue('labels are expected, as app.kubernetes.io/name=tendon');
  return Object.fromEntries(pairs) as Record<string, string>;
});

const placement = json(z.partialRecord(z.enum(PLACEMENT_FIELDS, `expected some of ${PLACEMENT_FIELDS.join(', ')}`), z.unknown()));

/** Sandboxes in pods of a cluster (`RUNTIME=kubernetes`). */
export const KubernetesEnvironment = z.object({
  KUBECONFIG: z.string().optional(),
  KUBERNETES_SERVICE_HOST: z.string().optional(),
  KUBERNETES_SERVICE_PORT: z.string().default('443'),
  SANDBOX_KUBERNETES_CONTEXT: z.string().optional(),
  SANDBOX_KUBERNETES_NAMESPACE: name.optional(),
  SANDBOX_KUBERNETES_INSTALLATION: name.optional(),
  SANDBOX_KUBERNETES_EXECUTOR_IMAGE: reference.optional(),
  SANDBOX_KUBERNETES_IMAGE_VOLUMES: flag.default(false),
  SANDBOX_KUBERNETES_RUNTIME_CLASS: name.optional(),
  SANDBOX_KUBERNETES_STORAGE_CLASS: z.string().optional(),
  SANDBOX_KUBERNETES_SECCOMP: z.string().optional(),
  SANDBOX_KUBERNETES_PLACEMENT: placement.default({}),
  SANDBOX_KUBERNETES_SERVER_LABELS: labels.default({ 'app.kubernetes.io/name': 'tendon' }),
  SANDBOX_KUBERNETES_SERVER_NAMESPACE: name.optional(),
  SANDBOX_KUBERNETES_WARM: count(0).default(0),
  SANDBOX_KUBERNETES_CPU_REQUEST: z.coerce.number('a number is expected').min(0.01, 'at least 0.01 is needed').default(0.25),
  SANDBOX_KUBERNETES_MEMORY_REQUEST: size('64m').default(512 * 1024 ** 2),
  SANDBOX_KUBERNETES_START_SECONDS: seconds(10).max(3600, 'at most 3600, an hour').default(300),
});

type Values = z.output<typeof KubernetesEnvironment>;
/** As image users are numbered who are nobody in particular. */
const USUAL_USER = 1000;

/** What is missing or wrong comes as a line; nothing is asked for with another driver. */
export function kubernetesConfig(
  values: Values,
  { container, limits }: { readonly container: ContainerConfig; readonly limits: Partial<Limits> },
): KubernetesOptions | string {
  const { SANDBOX_KUBERNETES_INSTALLATION: installation, SANDBOX_KUBERNETES_EXECUTOR_IMAGE: executorImage } = values;
  if (installation === undefined)
    return 'SANDBOX_KUBERNETES_INSTALLATION: a name is needed with RUNTIME=kubernetes, the same for all servers of this installation and for no other in the namespace';
  if (executorImage === undefined)
    return 'SANDBOX_KUBERNETES_EXECUTOR_IMAGE: the image of Tendon is needed with RUNTIME=kubernetes, of the same release as this server';
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = values;
  const bracketed = host?.includes(':') ? `[${host}]` : host;
  return {
    access: {
      kubeconfig: values.KUBECONFIG,
      context: values.SANDBOX_KUBERNETES_CONTEXT,
      inCluster: bracketed === undefined ? undefined : `${bracketed}:${port}`,
    },
    namespace: values.SANDBOX_KUBERNETES_NAMESPACE,
    installation,
    image: container.image,
    mayPull: container.mayPull,
    executorImage,
    mountsImages: values.SANDBOX_KUBERNETES_IMAGE_VOLUMES,
    limits: limitsOf(limits),
    requests: { cpus: values.SANDBOX_KUBERNETES_CPU_REQUEST, memoryBytes: values.SANDBOX_KUBERNETES_MEMORY_REQUEST },
    userId: container.userId ?? USUAL_USER,
    isRootReadOnly: container.isRootReadOnly,
    runtimeClass: values.SANDBOX_KUBERNETES_RUNTIME_CLASS,
    storageClass: values.SANDBOX_KUBERNETES_STORAGE_CLASS,
    seccompProfile: values.SANDBOX_KUBERNETES_SECCOMP,
    placement: values.SANDBOX_KUBERNETES_PLACEMENT,
    serverLabels: values.SANDBOX_KUBERNETES_SERVER_LABELS,
    serverNamespace: values.SANDBOX_KUBERNETES_SERVER_NAMESPACE,
    warm: values.SANDBOX_KUBERNETES_WARM,
    startSeconds: values.SANDBOX_KUBERNETES_START_SECONDS,
  };
}
