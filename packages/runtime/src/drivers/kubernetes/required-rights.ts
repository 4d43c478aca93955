import type { ApiClient } from './api/api-client.ts';
import { ApiError, ClusterProblem } from './api/api-error.ts';
import { EXTENSIONS_API, SANDBOX_API } from './cluster-objects.ts';

interface Rule {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Every right that a server needs in the namespace; docs/kubernetes.md and the chart list the same. @internal */
export const REQUIRED: readonly Rule[] = [
  { group: '', resources: ['pods'], verbs: ['get', 'list', 'watch'] },
  { group: '', resources: ['pods/log'], verbs: ['get'] },
  { group: '', resources: ['secrets'], verbs: ['get', 'create'] },
  { group: SANDBOX_API.group, resources: ['sandboxes'], verbs: ['get', 'patch'] },
  { group: EXTENSIONS_API.group, resources: ['sandboxclaims'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { group: EXTENSIONS_API.group, resources: ['sandboxtemplates', 'sandboxwarmpools'], verbs: ['get', 'create', 'patch'] },
];

/** A rule as the API server reports it. */
interface GivenRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Review {
  readonly status?: { readonly resourceRules?: readonly GivenRule[]; readonly incomplete?: boolean };
}

/**
 * Rejects with a `ClusterProblem` that names every right that this server lacks. Most rights are needed only later, and a start without the right
 * to watch would wait in vain. If the cluster cannot list all rights (because a webhook decides), nothing is reported.
 */
export async function requireRights(client: ApiClient, namespace: string): Promise<void> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } };
  const { status = {} } = await client.json<Review>({ method: 'POST', path, body }).catch((error: unknown): Review => {
    if (error instanceof ApiError && error.status !== 401) return {};
    throw error;
  });
  const { resourceRules, incomplete = false } = status;
  if (resourceRules === undefined || incomplete) return;
  const missing = REQUIRED.flatMap(({ group, resources, verbs }) =>
    resources.flatMap((resource) => {
      const lacks = verbs.filter((verb) => !resourceRules.some((rule) => allows(rule, { group, resource, verb })));
      return lacks.length > 0 ? [`${lacks.join(', ')} ${group === '' ? resource : `${resource}.${group}`}`] : [];
    }),
  );
  if (missing.length === 0) return;
  throw new ClusterProblem(
    `this server lacks rights in the namespace ${namespace}: it may not ${missing.join('; ')}`,
    'Give its service account the Role of docs/kubernetes.md.',
  );
}

function allows(rule: GivenRule, wanted: { readonly group: string; readonly resource: string; readonly verb: string }): boolean {
  const has = (given: readonly string[] = [], value: string): boolean => given.includes('*') || given.includes(value);
  const [resource = '', part] = wanted.resource.split('/');
  const names = part === undefined ? [resource] : [wanted.resource, `*/${part}`];
  return (
    (rule.resourceNames ?? []).length === 0 &&
    has(rule.verbs, wanted.verb) &&
    has(rule.apiGroups, wanted.group) &&
    names.some((name) => has(rule.resources, name))
  );
}
