import type { SandboxSpec } from '../../driver.ts';
import type { EngineClient } from './engine-client.ts';
import { EngineError } from './engine-error.ts';
import { labelsOf } from './containers.ts';

/** The properties of an image that a start needs. */
export interface Image {
  readonly id: string;
  /** Of its `ENV`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly architecture: string;
  /** Its own user files; empty where it has none. */
  readonly passwd: string;
  readonly group: string;
  /** Its Python, where that is not on PATH as `python` too. */
  readonly python3: string | undefined;
}

export interface Inspected {
  readonly Id: string;
  readonly Os: string;
  readonly Architecture: string;
  readonly Config?: { readonly Env?: readonly string[] | null } | null;
}

/** `undefined` if the engine does not have it. */
export async function inspectImage(engine: EngineClient, name: string, signal?: AbortSignal): Promise<Inspected | undefined> {
  try {
    return await engine.json<Inspected>({ method: 'GET', path: `/images/${name}/json`, ...(signal && { signal }) });
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * Looks into an image through a container that is never started; once per image. The container carries the labels of the
 * sandbox it is looked into for, so it is removed with it if this is cut off.
 */
export async function describeImage(engine: EngineClient, inspected: Inspected, spec: SandboxSpec, signal: AbortSignal): Promise<Image> {
  const body = { Image: inspected.Id, Entrypoint: ['/none'], Cmd: [], Labels: labelsOf(spec), NetworkDisabled: true };
  const { Id } = await engine.json<{ Id: string }>({ method: 'POST', path: '/containers/create', body, signal });
  try {
    const has = (path: string): Promise<boolean> => isInside(engine, Id, path, signal);
    const [passwd, group] = [await fileInside(engine, Id, '/etc/passwd', signal), await fileInside(engine, Id, '/etc/group', signal)];
    const isShort = (await has('/usr/bin/python')) || (await has('/usr/local/bin/python'));
    return {
      id: inspected.Id,
      environment: variables(inspected.Config?.Env ?? []),
      architecture: inspected.Architecture,
      passwd,
      group,
      python3: !isShort && (await has('/usr/bin/python3')) ? '/usr/bin/python3' : undefined,
    };
  } finally {
    await engine.json({ method: 'DELETE', path: `/containers/${Id}?force=1&v=1` });
  }
}

function variables(list: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(list.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]));
}

async function fileInside(engine: EngineClient, id: string, path: string, signal: AbortSignal): Promise<string> {
  try {
    return firstFileOf(await engine.bytes({ method: 'GET', path: archivePath(id, path), signal })) ?? '';
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return '';
    throw error;
  }
}

async function isInside(engine: EngineClient, id: string, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await engine.bytes({ method: 'HEAD', path: archivePath(id, path), signal });
    return true;
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return false;
    throw error;
  }
}

function archivePath(id: string, path: string): string {
  return `/containers/${id}/archive?path=${encodeURIComponent(path)}`;
}

const BLOCK = 512;
/** Types of a regular file. */
const REGULAR = new Set(['0', '\0']);

/** The first regular file of a tar archive, as text; `undefined` when it holds none. */
function firstFileOf(archive: Buffer): string | undefined {
  for (let at = 0; at + BLOCK <= archive.length;) {
    const header = archive.subarray(at, at + BLOCK);
    const size = Number.parseInt(header.toString('latin1', 124, 136), 8) || 0;
    const begin = at + BLOCK;
    if (header[0] !== 0 && REGULAR.has(String.fromCharCode(header[156] ?? 0))) return archive.toString('utf8', begin, begin + size);
    at = begin + Math.ceil(size / BLOCK) * BLOCK;
  }
  return undefined;
}
