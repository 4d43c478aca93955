import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { readPlainJson } from '../platform/read-plain-file.ts';
import { isUserFile } from './user-files.ts';

/** Beside the files it names; written last, so a folder without it is no backup. */
export const MANIFEST = 'manifest.json';

/** A line for each blob. */
const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

export const Manifest = z.object({
  tendon_backup: z.literal(1),
  made_at: z.string(),
  /** The TENDON_HOME it was made of. */
  home: z.string(),
  with_secrets: z.boolean(),
  /** Path in the folder → sha256, hex. */
  files: z.record(
    z.string().refine((name) => /^(?:tendon\.db|jwt-secret|blobs\/[0-9a-f]{2}\/[0-9a-f]{62})$/.test(name) || isUserFile(name)),
    z.string(),
  ),
});
export type Manifest = z.output<typeof Manifest>;

/** Every file under the folder but the manifest. */
export async function hashesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const hashes: Record<string, string> = {};
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path);
    if (entry.isFile() && name !== MANIFEST) hashes[name] = await hashOf(path);
  }
  return hashes;
}

/** The manifest of a folder whose every named file is as it was written. Rejects with a user-facing error. */
export async function verifiedManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST);
  if (!(await lstat(path).catch(() => undefined))) throw new Error(`${folder} is not a whole backup: it has no ${MANIFEST}.`);
  let manifest: Manifest;
  try {
    manifest = Manifest.parse(await readPlainJson(path, MAX_MANIFEST_BYTES));
  } catch (cause) {
    throw new Error(`${path} cannot be read. Nothing was changed.`, { cause });
  }
  if (!('tendon.db' in manifest.files)) throw new Error(`${folder} has no database. Nothing was changed.`);
  for (const [name, expected] of Object.entries(manifest.files)) {
    const fault = await faultOf(join(folder, name), expected);
    if (fault !== undefined) throw new Error(`${join(folder, name)} is ${fault}. Nothing was changed.`);
  }
  return manifest;
}

/** A pipe or a device would be read for ever, and a link leads to another place. */
async function faultOf(path: string, expected: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return 'missing';
  if (!found.isFile()) return 'not a file';
  const hash = await hashOf(path).catch(() => undefined);
  return hash === expected ? undefined : 'not as it was written';
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
