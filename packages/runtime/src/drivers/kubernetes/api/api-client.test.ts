import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startApiServerStandIn, type ApiServerStandIn } from '../../../testing/cluster/api-server-stand-in.ts';
import { clusterObjects, type ClusterObjects, type Secret } from '../cluster-objects.ts';
import { findSigningKey } from '../signing-key.ts';
import { createApiClient, errorOf } from './api-client.ts';
import { ApiError, ApiUnreachable } from './api-error.ts';
import { accessOf, findAccess, inPod, type Kubeconfig } from './cluster-access.ts';
import { WatchedObjects } from './watch-objects.ts';

async function cluster(): Promise<{ readonly api: ApiServerStandIn; readonly objects: ClusterObjects }> {
  const api = await startApiServerStandIn();
  onTestFinished(() => api.close());
  return { api, objects: clusterObjects(createApiClient(api.access), 'agents') };
}

const secret = (name: string, labels = { part: 'one' }): Secret => ({ metadata: { name, labels }, data: {} });

it('SB1006: objects are made once, changed, listed by label and deleted; what is not there is no error', async () => {
  const { objects } = await cluster();
  const { secrets } = objects;
  expect(await secrets.get('a')).toBeUndefined();
  expect(await secrets.create(secret('a'))).toMatchObject({ metadata: { name: 'a' } });
  expect(await secrets.create(secret('a'))).toBeUndefined();
  await secrets.create(secret('b', { part: 'two' }));
  expect((await secrets.list('part=one')).items.map(({ metadata }) => metadata.name)).toEqual(['a']);
  expect(await secrets.patch('a', { data: { x: 'eA==' } })).toMatchObject({ data: { x: 'eA==' } });
  expect(await secrets.patch('a', [{ op: 'add', path: '/data/y', value: 'eQ==' }])).toMatchObject({ data: { x: 'eA==', y: 'eQ==' } });
  expect(await secrets.patch('none', { data: {} })).toBeUndefined();
  expect(await secrets.apply(secret('c'))).toMatchObject({ metadata: { name: 'c' } });
  await secrets.delete('a');
  await secrets.delete('a');
  expect(await secrets.get('a')).toBeUndefined();
});

it('SB1006: what is refused, what is no answer of the API, and a server that is away are distinguished', async () => {
  const { api, objects } = await cluster();
  api.token = 'another';
  await expect(objects.secrets.get('a')).rejects.toMatchObject({ name: 'ApiError', status: 401 });
  expect(errorOf(502, '<html>bad gateway</html>')).toMatchObject({ status: 502, message: '<html>bad gateway</html>' });
  const other = createApiClient({ ...api.access, ca: undefined });
  await expect(other.json({ method: 'GET', path: '/version' })).rejects.toThrow(ApiUnreachable);
  await api.close();
  await expect(objects.secrets.get('a')).rejects.toMatchObject({ name: 'ApiUnreachable', code: 'ECONNREFUSED' });
  expect(new ApiError(500, '').message).toContain('status 500');
});

it('SB1007: what is watched follows the cluster, over a broken watch and a version that is forgotten', async () => {
  const { api, objects } = await cluster();
  const { secrets } = objects;
  await secrets.create(secret('before'));
  const watched = new WatchedObjects(secrets, 'part=one');
  onTestFinished(() => watched.close());
  await watched.open();
  const names = (): string[] => watched.all().map(({ metadata }) => metadata.name);
  const holds = (wanted: readonly string[]) =>
    watched.until(() => (String(names().toSorted()) === String(wanted) ? true : undefined), AbortSignal.timeout(30_000));
  expect(names()).toEqual(['before']);
  await secrets.create(secret('other', { part: 'two' }));
  await secrets.create(secret('after'));
  await holds(['after', 'before']);
  api.breakWatches();
  await secrets.delete('before');
  await holds(['after']);
  await secrets.create(secret('unseen'));
  api.forgetVersions();
  await secrets.delete('after');
  api.forgetVersions();
  await holds(['unseen']);
  await expect(watched.until(() => undefined, AbortSignal.abort(new Error('given up')))).rejects.toThrow('given up');
});

it('SB1008: the key of an installation is made once, and opens every executor of it alone', async () => {
  const { objects } = await cluster();
  const [one, two] = await Promise.all([findSigningKey(objects.secrets, 'acme'), findSigningKey(objects.secrets, 'acme')]);
  const other = await findSigningKey(objects.secrets, 'other');
  expect([one.publicKey, one.executorKey('i'), one.sign('p', 'b')]).toEqual([two.publicKey, two.executorKey('i'), two.sign('p', 'b')]);
  expect(new Set([one.executorKey('i'), one.executorKey('j'), other.executorKey('i')]).size).toBe(3);
  await objects.secrets.patch('tendon-acme', { data: { 'ed25519.pem': 'eA==' } });
  await expect(findSigningKey(objects.secrets, 'acme')).rejects.toThrow('holds no key of Tendon');
});

const FILE: Kubeconfig = {
  'current-context': 'c',
  contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', namespace: 'n' } }],
  clusters: [{ name: 'k', cluster: { server: 'https://cluster.example.org:6443/' } }],
  users: [{ name: 'u', user: { token: 'T' } }],
};
const withUser = (user: Record<string, unknown>): Kubeconfig => ({ ...FILE, users: [{ name: 'u', user }] });
const from = (file: Kubeconfig) => accessOf(file, { context: undefined, folder: '/' });

it('SB1009: a kubeconfig with a token or a certificate is taken; logins by other programs, and none, are refused with what to do', async () => {
  expect(from(FILE)).toMatchObject({ url: 'https://cluster.example.org:6443', namespace: 'n' });
  expect(from(FILE).token()).toBe('T');
  const data = (text: string): string => Buffer.from(text).toString('base64');
  const certified = from(withUser({ 'client-certificate-data': data('C'), 'client-key-data': data('K') }));
  expect([certified.certificate, certified.token()]).toEqual([{ cert: 'C', key: 'K' }, undefined]);
  expect(() => from(withUser({ exec: { command: 'aws' } }))).toThrow(/logs in with exec.*kubectl create token/);
  expect(() => from(withUser({}))).toThrow(/neither a token nor a client certificate/);
  expect(() => from({ ...FILE, 'current-context': 'none' })).toThrow(/does not have the context "none"/);
  expect(() => from({ ...FILE, clusters: [{ name: 'k', cluster: { server: 'https://x', 'insecure-skip-tls-verify': true } }] })).toThrow(
    /does not check/,
  );
  expect(() => from({ ...FILE, clusters: [{ name: 'k', cluster: { server: 'http://x' } }] })).toThrow(/no https/);
  await expect(findAccess({ kubeconfig: '/nowhere/config' })).rejects.toThrow(/cannot be read \(ENOENT\)/);
  await expect(findAccess({})).rejects.toThrow(/no cluster is configured/);
});

it('SB1009: in a pod the service account is used', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-account-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries({ token: 'first\n', 'ca.crt': 'CA', namespace: 'agents\n' }))
    writeFileSync(join(folder, name), content);
  const access = inPod('10.0.0.1:443', folder);
  expect(access).toMatchObject({ url: 'https://10.0.0.1:443', ca: 'CA', namespace: 'agents' });
  expect(access.token()).toBe('first');
});
