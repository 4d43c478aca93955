import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startApiServerStandIn, type ApiServerStandIn } from '../../testing/cluster/api-server-stand-in.ts';
import { documentedRights, type Right } from '../../testing/cluster/documented-role.ts';
import { createApiClient } from './api/api-client.ts';
import { REQUIRED, requireRights } from './required-rights.ts';

const CHART = join(import.meta.dirname, '../../../../../deploy/helm/tendon/templates/access.yaml');
const required: readonly Right[] = REQUIRED.flatMap(({ group, resources, verbs }) =>
  resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb }))),
);
const named = (rights: readonly Right[]): readonly string[] => rights.map((right) => JSON.stringify(right)).toSorted();

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** What a server reports of a cluster that answers this about its rights. */
async function reportedFor(resourceRules: readonly Rule[], incomplete = false): Promise<string> {
  const api = await startApiServerStandIn();
  onTestFinished(() => api.close());
  api.rights = { resourceRules, incomplete };
  return reported(api);
}

const reported = ({ access }: ApiServerStandIn): Promise<string> =>
  requireRights(createApiClient(access), 'agents').then(
    () => 'nothing',
    (error: unknown) => (error as Error).message,
  );

it('SB1018: the page, the chart and the server name the same rights', () => {
  expect(named(documentedRights())).toEqual(named(required));
  const words = (list: string): readonly string[] => list.split(',').map((word) => word.trim().replaceAll("'", ''));
  const rules = readFileSync(CHART, 'utf8').matchAll(/- \{ apiGroups: \[(.*?)\], resources: \[(.*?)\], verbs: \[(.*?)\] \}/g);
  const inChart = [...rules].flatMap(([, groups = '', resources = '', verbs = '']) =>
    words(groups).flatMap((group) => words(resources).flatMap((resource) => words(verbs).map((verb) => ({ group, resource, verb })))),
  );
  expect(named(inChart)).toEqual(named(required));
});

it('SB1018: rights that are given by wildcards are rights, those for named objects are not', async () => {
  expect(await reportedFor([{ verbs: ['*'], apiGroups: ['*'], resources: ['*', '*/log'] }])).toBe('nothing');
  const rest = REQUIRED.slice(2).map(({ group, resources, verbs }) => ({ apiGroups: [group], resources, verbs }));
  const one = { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'], resourceNames: ['one'] };
  expect(await reportedFor([one, ...rest])).toBe(
    'this server lacks rights in the namespace agents: it may not get, list, watch pods; get pods/log. Give its service account the Role of docs/kubernetes.md.',
  );
});

it('SB1018: where the cluster does not list all rights, none is reported; a token that is refused is', async () => {
  expect(await reportedFor([], true)).toBe('nothing');
  const api = await startApiServerStandIn();
  onTestFinished(() => api.close());
  expect(await reported(api)).toBe('nothing');
  api.token = 'another';
  expect(await reported(api)).toBe('Unauthorized');
});
