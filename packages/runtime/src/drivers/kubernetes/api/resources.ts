import type { ApiClient } from './api-client.ts';
import { ApiError } from './api-error.ts';

export interface ObjectMeta {
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
}

/** The fields that every object of the API has. */
export interface ClusterObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

interface Listed<T> {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly T[];
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T & { readonly code?: number; readonly message?: string };
}

export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** The objects of one kind in one namespace. */
export interface Resources<T extends ClusterObject> {
  /** `undefined` if there is no object of that name. */
  get(name: string, signal?: AbortSignal): Promise<T | undefined>;
  /** `undefined` if there is an object of that name already. */
  create(object: T, signal?: AbortSignal): Promise<T | undefined>;
  /** Creates the object, or updates the existing one (server-side apply). Fields of other managers stay. */
  apply(object: T): Promise<T>;
  /** `undefined` if there is no object of that name. A list of operations is a JSON patch; anything else is merged. */
  patch(name: string, change: object | readonly PatchOperation[], signal?: AbortSignal): Promise<T | undefined>;
  /** A missing object is fine. */
  delete(name: string): Promise<void>;
  list(selector: string, signal?: AbortSignal): Promise<Listed<T>>;
  watch(selector: string, resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
}

export interface ResourceKind {
  /** `''` for the core API. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

const FIELD_MANAGER = 'tendon';
/** After this time the API server ends a watch; its default is between half an hour and an hour. */
export const WATCH_SECONDS = 240;

export function createResources<T extends ClusterObject>(
  client: ApiClient,
  { group, version, plural }: ResourceKind,
  namespace: string,
): Resources<T> {
  const base = `${group === '' ? '/api' : `/apis/${group}`}/${version}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  const pathOf = (name: string): string => `${base}/${encodeURIComponent(name)}`;
  const query = (values: Readonly<Record<string, string>>): string => new URLSearchParams(values).toString();
  const within = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });
  return {
    get: (name, signal) => unless(404, client.json<T>({ method: 'GET', path: pathOf(name), ...within(signal) })),
    create: (object, signal) =>
      unless(
        409,
        client.json<T>({ method: 'POST', path: `${base}?${query({ fieldManager: FIELD_MANAGER })}`, body: object, ...within(signal) }),
      ),
    apply: (object) =>
      client.json<T>({
        method: 'PATCH',
        path: `${pathOf(object.metadata.name)}?${query({ fieldManager: FIELD_MANAGER, force: 'true' })}`,
        type: 'application/apply-patch+yaml',
        body: object,
      }),
    patch: (name, change, signal) =>
      unless(
        404,
        client.json<T>({
          method: 'PATCH',
          path: `${pathOf(name)}?${query({ fieldManager: FIELD_MANAGER })}`,
          type: Array.isArray(change) ? 'application/json-patch+json' : 'application/merge-patch+json',
          body: change,
          ...within(signal),
        }),
      ),
    async delete(name) {
      await unless(404, client.json({ method: 'DELETE', path: `${pathOf(name)}?${query({ propagationPolicy: 'Background' })}` }));
    },
    list: (selector, signal) => client.json({ method: 'GET', path: `${base}?${query({ labelSelector: selector })}`, ...within(signal) }),
    watch(selector, resourceVersion, signal) {
      const values = {
        labelSelector: selector,
        resourceVersion,
        watch: 'true',
        allowWatchBookmarks: 'true',
        timeoutSeconds: String(WATCH_SECONDS),
      };
      return client.lines({ method: 'GET', path: `${base}?${query(values)}`, signal });
    },
  };
}

async function unless<T>(status: 404 | 409, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === status) return undefined;
    throw error;
  }
}
