/**
 * Content-addressed blobs by sha256. Owns who holds one; where the bytes lie is a `BlobPlace`, and which log uses which blob is the
 * database's to know.
 *
 * Invariants
 * BS1  A blob is durable, with its name, before `put` resolves; a reader sees it whole or not at all.
 * BS2  From `put` until `release` a blob is not removed, whatever asks for it.
 * BS3  What `get` gives has the hash it was asked by; anything else is reported as missing or damaged.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export type BlobResult = { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly reason: string };

/** Where the bytes of blobs lie. It checks no content. */
export interface BlobPlace {
  /** Durable, with its name, when it resolves. */
  write(hash: string, bytes: Uint8Array): Promise<void>;
  /** What lies there under this name, copies of one content as they are read; nothing when it is missing. Rejects when it cannot be read. */
  read(hash: string): AsyncIterable<Buffer>;
  /** False: it may not go yet, because another server may be about to use it. */
  remove(hash: string): Promise<boolean>;
  /** Of all that are there, as they are found; what else lies there is passed over. */
  hashes(): AsyncIterable<string>;
}

export class BlobStore {
  readonly #place: BlobPlace;
  readonly #leases = new Map<string, number>();
  readonly #writing = new Map<string, Promise<void>>();
  readonly #removing = new Map<string, Promise<boolean>>();

  constructor(place: BlobPlace) {
    this.#place = place;
  }

  /** In a folder of files `ab/cdef…`: makes it and clears what a crash left half written. */
  static async open(dir: string): Promise<BlobStore> {
    await rm(join(dir, 'tmp'), { recursive: true, force: true });
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await syncDir(dirname(dir));
    return new BlobStore(new BlobFolder(dir));
  }

  /** Stores the bytes unless they are there, and holds them until `release`. Resolves with the hash. */
  async put(bytes: Uint8Array): Promise<string> {
    const hash = sha256(bytes);
    this.#leases.set(hash, (this.#leases.get(hash) ?? 0) + 1);
    try {
      await this.#removing.get(hash);
      let writing = this.#writing.get(hash);
      if (!writing) {
        writing = this.#place.write(hash, bytes).finally(() => this.#writing.delete(hash));
        this.#writing.set(hash, writing);
      }
      await writing;
    } catch (error) {
      this.release([hash]);
      throw error;
    }
    return hash;
  }

  release(hashes: Iterable<string>): void {
    for (const hash of hashes) {
      const left = (this.#leases.get(hash) ?? 0) - 1;
      if (left > 0) this.#leases.set(hash, left);
      else this.#leases.delete(hash);
    }
  }

  async get(hash: string): Promise<BlobResult> {
    let reason = `blob ${hash} is missing`;
    try {
      for await (const bytes of this.#place.read(hash)) {
        if (sha256(bytes) === hash) return { ok: true, bytes };
        reason = `blob ${hash} has other content than was written`;
      }
    } catch (error) {
      reason = `blob ${hash} cannot be read: ${(error as Error).message}`;
    }
    return { ok: false, reason };
  }

  /** Removes a blob that no log refers to; false while somebody holds it (BS2) or may do so. Never rejects: what stays is only space. */
  async remove(hash: string): Promise<boolean> {
    if (this.#leases.has(hash)) return false;
    const removing = this.#place
      .remove(hash)
      .catch(() => false)
      .finally(() => this.#removing.delete(hash));
    this.#removing.set(hash, removing);
    return removing;
  }

  hashes(): AsyncIterable<string> {
    return this.#place.hashes();
  }
}

/** One server's own, so only its leases count. */
export class BlobFolder implements BlobPlace {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async *read(hash: string): AsyncGenerator<Buffer> {
    try {
      yield await readFile(this.#path(hash));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  async remove(hash: string): Promise<boolean> {
    await unlink(this.#path(hash)).catch(() => {});
    return true;
  }

  async *hashes(): AsyncGenerator<string> {
    for (const folder of await readdir(this.#dir)) {
      if (!/^[0-9a-f]{2}$/.test(folder)) continue;
      for (const name of await readdir(join(this.#dir, folder))) if (/^[0-9a-f]{62}$/.test(name)) yield folder + name;
    }
  }

  async write(hash: string, bytes: Uint8Array): Promise<void> {
    const path = this.#path(hash);
    // Its content is verified: a damaged blob is written again. It may have been renamed by a process that was killed before its name was durable.
    if (await this.#has(hash)) return syncDir(dirname(path));
    const temporary = join(this.#dir, 'tmp', randomUUID());
    await mkdir(dirname(temporary), { recursive: true, mode: 0o700 });
    try {
      await writeDurably(temporary, bytes);
      const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(temporary, path);
      await syncDir(dirname(path));
      if (made !== undefined) await syncDir(this.#dir);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw error;
    }
  }

  async #has(hash: string): Promise<boolean> {
    const bytes = await readFile(this.#path(hash)).catch(() => undefined);
    return bytes !== undefined && sha256(bytes) === hash;
  }

  #path(hash: string): string {
    return join(this.#dir, hash.slice(0, 2), hash.slice(2));
  }
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A new name in a folder is durable only with the folder. */
export async function syncDir(path: string): Promise<void> {
  const dir = await open(path, 'r');
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
