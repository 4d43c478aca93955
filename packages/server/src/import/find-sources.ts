import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readPlainJson } from '../platform/read-plain-file.ts';

/** One conversation to move over: a folder of event files, or an exported trajectory. */
export interface Source {
  readonly id: string;
  readonly path: string;
  readonly kind: 'folder' | 'trajectory';
}

export interface Sources {
  readonly conversations: readonly Source[];
  /** Folders that may hold `settings.json` and `secrets.json`. */
  readonly roots: readonly string[];
  /** What is there and cannot be taken, one sentence each. */
  readonly problems: readonly string[];
}

/** Metadata, settings and secrets are a few kilobytes. */
const MAX_OBJECT_BYTES = 4 * 1024 * 1024;

const ID = /^[A-Za-z0-9][\w-]{0,99}$/;

/**
 * What lies at `path`: a store's root, its `sessions` folder, one conversation's folder, or a trajectory file. Only reads.
 * Rejects with a user-facing error when there is nothing of the kind.
 */
export async function findSources(path: string): Promise<Sources> {
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new Error(`${path} is not there.`);
  if (!found.isDirectory() && !found.isFile()) throw new Error(`${path} is neither a folder nor a file.`);
  if (found.isFile()) return { conversations: [trajectorySource(path)], roots: [], problems: [] };
  if ((await names(path)).includes('events')) return collected([path], []);
  const users = (await names(join(path, 'users'))).map((user) => join(path, 'users', user));
  const parents = [path, join(path, 'sessions'), ...users.flatMap((user) => [join(user, 'conversations'), join(user, 'sessions')])];
  const folders: string[] = [];
  for (const parent of parents) {
    for (const name of await names(parent)) {
      if ((await names(join(parent, name))).includes('events')) folders.push(join(parent, name));
    }
  }
  const roots = [path, ...users];
  const sources = collected(folders, roots);
  const hasOthers = await Promise.all(roots.flatMap((root) => ['settings.json', 'secrets.json'].map((file) => exists(join(root, file)))));
  if (folders.length === 0 && !hasOthers.includes(true))
    throw new Error(`${path} holds no conversations: no sessions/<id>/events is there.`);
  return sources;
}

function collected(folders: readonly string[], roots: readonly string[]): Sources {
  const problems: string[] = [];
  const conversations = new Map<string, Source>();
  for (const path of folders) {
    const id = basename(path);
    if (!ID.test(id)) problems.push(`${path}: "${id}" cannot be an id of a conversation.`);
    else if (conversations.has(id)) problems.push(`${path}: there is another conversation ${id}, in ${conversations.get(id)!.path}.`);
    else conversations.set(id, { id, path, kind: 'folder' });
  }
  return { conversations: [...conversations.values()], roots, problems };
}

/** `trajectory-<id>.json` is what frontends save. */
function trajectorySource(path: string): Source {
  const name = basename(path).replace(/\.json[l]?$/, '');
  const id = name
    .replace(/^trajectory-/, '')
    .replaceAll(/[^\w-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '');
  return { id: id.slice(0, 100) || 'trajectory', path, kind: 'trajectory' };
}

/** The object in a file; `undefined` when there is none. Rejects with an Error when it is not one. */
export async function readObject(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (!(await exists(path))) return undefined;
  const value = await readPlainJson(path, MAX_OBJECT_BYTES);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is not a JSON object');
  return value as Readonly<Record<string, unknown>>;
}

/** Links and pipes too: reading them says what is wrong. */
async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/** Of what is in a folder; empty when it is none. */
async function names(path: string): Promise<readonly string[]> {
  return readdir(path).then(
    (all) => all.toSorted(),
    () => [],
  );
}
