import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';

/** Beside the files it names; written last, so a folder without it is no backup. */
export const MANIFEST = 'manifest.json';

export const Manifest = z.object({
  tendon_backup: z.literal(1),
  made_at: z.string(),
  /** The TENDON_HOME it was made of. */
  home: z.string(),
  with_secrets: z.boolean(),
  /** Path in the folder → sha256, hex. */
  files: z.record(z.string().regex(/^(tendon\.db|jwt-secret|blobs\/[0-9a-f]{2}\/[0-9a-f]{62})$/), z.string()),
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

/** The manifest of a folder whose every named file is as it was written. Rejects with an Error that can be shown. */
export async function verifiedManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`${folder} is not a whole backup: it has no ${MANIFEST}.`);
  let manifest: Manifest;
  try {
    manifest = Manifest.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${join(folder, MANIFEST)} can not be read. Nothing was changed.`, { cause });
  }
  if (!('tendon.db' in manifest.files)) throw new Error(`${folder} has no database. Nothing was changed.`);
  for (const [name, expected] of Object.entries(manifest.files)) {
    const found = await hashOf(join(folder, name)).catch(() => 'missing');
    if (found !== expected)
      throw new Error(`${join(folder, name)} is ${found === 'missing' ? 'missing' : 'not as it was written'}. Nothing was changed.`);
  }
  return manifest;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
