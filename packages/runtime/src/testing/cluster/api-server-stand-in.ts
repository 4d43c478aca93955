import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ClusterAccess } from '../../drivers/kubernetes/api/cluster-access.ts';
import { applyOperations, mergePatch, type Json } from './patches.ts';

/**
 * A STAND-IN for kube-apiserver, over real HTTPS: objects with versions, lists, watches, patches and deletion as the API has them; no schemas, no
 * admission, no defaults. Deleting an owner deletes what it owns, as the garbage collector of a cluster does. What it does not check, only
 * `npm run test:cluster` shows, where the API server is a real one.
 */
export interface ApiServerStandIn {
  readonly access: ClusterAccess;
  /** The token that it accepts; another one is answered 401. */
  token: string;
  /** Refuses what this returns a status for. */
  refuse: (request: {
    readonly method: string;
    readonly path: string;
    readonly body: Json;
  }) => { readonly status: number; readonly message: string } | undefined;
  /** What it answers about the rights of a client; without it there is no such answer. */
  rights: { readonly resourceRules: readonly object[]; readonly incomplete: boolean } | undefined;
  /** Watches from before now are answered 410. */
  forgetVersions(): void;
  breakWatches(): void;
  readonly requests: string[];
  close(): Promise<void>;
}

interface StoredObject extends Record<string, unknown> {
  metadata: Record<string, unknown> & { name: string; labels?: Record<string, string>; ownerReferences?: { uid: string }[] };
}

interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly collection: string;
  readonly object: StoredObject;
}

interface Watcher {
  readonly response: ServerResponse;
  readonly collection: string;
  readonly selector: string;
}

const RIGHTS = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
const PATH = /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?(?:\/(status|binding|log))?$/;

export async function startApiServerStandIn(): Promise<ApiServerStandIn> {
  const { key, cert } = selfSigned();
  const store = new Store();
  const server = createServer({ key, cert }, (request, response) => {
    void answer(request, response).catch((error: unknown) => fail(response, 500, String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const standIn: ApiServerStandIn = {
    access: { url: `https://127.0.0.1:${port}`, ca: cert, certificate: undefined, token: () => 'secret-token', namespace: 'agents' },
    token: 'secret-token',
    rights: undefined,
    refuse: () => undefined,
    forgetVersions: () => store.forget(),
    breakWatches: () => store.breakWatches(),
    requests: [],
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'https://cluster');
    const content = await text(request);
    const body = (content === '' ? {} : JSON.parse(content)) as Json;
    const method = request.method ?? 'GET';
    standIn.requests.push(`${method} ${url.pathname}`);
    if (request.headers.authorization !== `Bearer ${standIn.token}`) return fail(response, 401, 'Unauthorized');
    const refused = standIn.refuse({ method, path: url.pathname, body });
    if (refused) return fail(response, refused.status, refused.message);
    if (url.pathname === RIGHTS && standIn.rights) return send(response, { status: standIn.rights }, 201);
    if (url.pathname === '/version') return send(response, { gitVersion: 'v0.0.0-stand-in' });
    const [, group = '', namespace = '', plural = '', name, subresource] = PATH.exec(url.pathname) ?? [];
    if (plural === '')
      return /^\/apis\/[^/]*agents\.x-k8s\.io\/v1beta1$/.test(url.pathname) ? send(response, {}) : fail(response, 404, 'not found');
    const collection = `${group}/${namespace}/${plural}`;
    if (method === 'GET' && url.searchParams.get('watch') === 'true') return store.watch(collection, url.searchParams, response);
    if (method === 'GET' && name === undefined) return send(response, store.list(collection, url.searchParams.get('labelSelector') ?? ''));
    if (method === 'POST' && subresource === undefined)
      return reply(response, store.create(collection, body as unknown as StoredObject), 409);
    const there = store.get(collection, name!);
    if (method === 'PATCH' && String(request.headers['content-type']).includes('apply-patch'))
      return send(
        response,
        there ? store.update(collection, mergePatch(there, body)) : store.create(collection, body as unknown as StoredObject),
      );
    if (there === undefined) return fail(response, 404, `${plural} "${name}" not found`);
    if (method === 'GET') return send(response, there);
    if (method === 'POST')
      return send(
        response,
        store.update(collection, mergePatch(there, { spec: { nodeName: (body as { target: { name: string } }).target.name } })),
      );
    if (method === 'DELETE') return send(response, store.delete(collection, there, goesAtOnce(plural, url.searchParams)));
    send(response, store.update(collection, Array.isArray(body) ? applyOperations(there, body) : mergePatch(there, body)));
  }

  return standIn;
}

/** A pod goes when its kubelet says that it has ended. */
function goesAtOnce(plural: string, query: URLSearchParams): boolean {
  return plural !== 'pods' || query.get('gracePeriodSeconds') === '0';
}

class Store {
  readonly #objects = new Map<string, StoredObject>();
  readonly #changes: Change[] = [];
  readonly #watchers = new Set<Watcher>();
  #version = 1;
  #oldest = 0;

  get(collection: string, name: string): StoredObject | undefined {
    return this.#objects.get(`${collection}/${name}`);
  }

  list(collection: string, selector: string) {
    const items = [...this.#objects].flatMap(([key, object]) =>
      key.startsWith(`${collection}/`) && matches(object, selector) ? [object] : [],
    );
    return { metadata: { resourceVersion: String(this.#version) }, items };
  }

  create(collection: string, object: StoredObject): StoredObject | undefined {
    if (this.get(collection, object.metadata.name) !== undefined) return undefined;
    const metadata = { ...object.metadata, uid: randomUUID(), generation: 1, creationTimestamp: new Date().toISOString() };
    return this.#put('ADDED', collection, { ...object, metadata });
  }

  update(collection: string, object: StoredObject): StoredObject {
    const before = this.get(collection, object.metadata.name);
    if (before === undefined) return this.create(collection, object)!;
    const isSameSpec = JSON.stringify(before.spec) === JSON.stringify(object.spec);
    const generation = Number(before.metadata.generation) + (isSameSpec ? 0 : 1);
    return this.#put('MODIFIED', collection, { ...object, metadata: { ...object.metadata, generation } });
  }

  delete(collection: string, object: StoredObject, isAtOnce: boolean): StoredObject {
    if (!isAtOnce) return this.update(collection, mergePatch(object, { metadata: { deletionTimestamp: new Date().toISOString() } }));
    this.#put('DELETED', collection, object);
    for (const [key, owned] of this.#objects) {
      if (!owned.metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid)) continue;
      const of = key.slice(0, key.lastIndexOf('/'));
      this.delete(of, owned, !of.endsWith('/pods'));
    }
    return object;
  }

  watch(collection: string, query: URLSearchParams, response: ServerResponse): void {
    const since = Number(query.get('resourceVersion'));
    const watcher = { response, collection, selector: query.get('labelSelector') ?? '' };
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    if (since < this.#oldest)
      return void response.end(`${JSON.stringify({ type: 'ERROR', object: { metadata: {}, code: 410, message: 'too old' } })}\n`);
    for (const change of this.#changes) if (change.version > since) emit(watcher, change);
    this.#watchers.add(watcher);
    response.once('close', () => this.#watchers.delete(watcher));
  }

  forget(): void {
    this.#changes.length = 0;
    this.#version += 1;
    this.#oldest = this.#version;
    this.breakWatches();
  }

  breakWatches(): void {
    for (const { response } of this.#watchers) response.destroy();
  }

  #put(type: Change['type'], collection: string, given: StoredObject): StoredObject {
    this.#version += 1;
    const object = { ...given, metadata: { ...given.metadata, resourceVersion: String(this.#version) } };
    const key = `${collection}/${object.metadata.name}`;
    if (type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, object);
    const change = { version: this.#version, type, collection, object };
    this.#changes.push(change);
    for (const watcher of this.#watchers) emit(watcher, change);
    return object;
  }
}

function emit({ response, collection, selector }: Watcher, { type, object, ...change }: Change): void {
  if (change.collection === collection && matches(object, selector)) response.write(`${JSON.stringify({ type, object })}\n`);
}

function matches({ metadata: { labels = {} } }: StoredObject, selector: string): boolean {
  return selector
    .split(',')
    .filter(Boolean)
    .every((term) => {
      const [name = '', value] = term.split('=');
      return value === undefined ? labels[name] !== undefined : labels[name] === value;
    });
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function reply(response: ServerResponse, body: unknown, otherwise: number): void {
  if (body === undefined) fail(response, otherwise, 'it exists already');
  else send(response, body, 201);
}

function fail(response: ServerResponse, status: number, message: string): void {
  send(response, { kind: 'Status', status: 'Failure', message, code: status }, status);
}

function selfSigned(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-certificate-'));
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return made;
}
