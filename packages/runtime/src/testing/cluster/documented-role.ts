import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiClient } from '../../drivers/kubernetes/api/api-client.ts';

const PAGE = join(import.meta.dirname, '../../../../../docs/kubernetes.md');

export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
}

/** What docs/kubernetes.md says a server must be allowed, right by right. */
export function documentedRights(): readonly Right[] {
  const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| (core|`[^`]+`) \| ([^|]+) \| ([^|]+) \|$/gm);
  const words = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);
  return [...rows].flatMap(([, group = '', resources = '', verbs = '']) =>
    words(resources).flatMap((resource) =>
      words(verbs).map((verb) => ({ group: group === 'core' ? '' : group.replaceAll('`', ''), resource, verb })),
    ),
  );
}

/** Allows a user of the cluster exactly this in the namespace. The API server hears of it a moment later. */
export async function allow(client: ApiClient, namespace: string, user: string, rights: readonly Right[]): Promise<void> {
  const base = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const apply = (plural: string, body: object) =>
    client.json({
      method: 'PATCH',
      path: `${base}/${plural}/${user}?fieldManager=test&force=true`,
      type: 'application/apply-patch+yaml',
      body: { apiVersion, metadata: { name: user }, ...body },
    });
  const rules = rights.map(({ group, resource, verb }) => ({ apiGroups: [group], resources: [resource], verbs: [verb] }));
  await apply('roles', { kind: 'Role', rules });
  await apply('rolebindings', {
    kind: 'RoleBinding',
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: user },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
  });
}
