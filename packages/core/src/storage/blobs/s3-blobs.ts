/**
 * Blobs in a bucket that several servers share, by the API of S3. Owns requests to it; who refers to a blob is the database's to know.
 *
 * S3-1  An object is written under a name that no object had before (`<prefix>/ab/cdef…/<random>`), and never again. So what one server
 *       removes is only what it has seen: a blob that another one puts in that moment has another name, and stays.
 * S3-2  An object younger than `GRACE_MS`, by the clock of the store, is not removed: its event may not be in the database yet. `put` writes
 *       a blob anew unless this process wrote it within half of that time.
 * S3-3  Every request has a deadline, every answer a bound. A store that does not answer costs the append that needs it, with its name and
 *       cause; nothing else waits.
 */
import { randomUUID } from 'node:crypto';
import type { AwsClient } from 'aws4fetch';
import type { BlobPlace } from './blob-store.ts';

export interface S3Options {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
  /** Of a store that is not Amazon's; the bucket is the first part of its paths. */
  readonly endpoint: URL | undefined;
  readonly region: string;
  readonly account: S3Account;
  /** Where blobs were stored before there was a bucket: read, and written no more. */
  readonly before?: BlobPlace;
}

export interface S3Account {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const GRACE_MS = 60 * 60_000;
const DEADLINE_MS = 30_000;
const MAX_BLOB_BYTES = 256 * 1024 ** 2;
const MAX_LISTING_CHARACTERS = 4 * 1024 ** 2;
/** Of the blobs that this process wrote. */
const MAX_REMEMBERED = 1000;
const NAME = /^([0-9a-f]{2})\/([0-9a-f]{62})\/([0-9a-f-]{36})$/;

interface StoredObject {
  readonly hash: string;
  /** Without the prefix. */
  readonly name: string;
  readonly ageMs: number;
}

export class S3Blobs implements BlobPlace {
  readonly #options: S3Options;
  readonly #base: string;
  readonly #graceMs: number;
  #client: Promise<AwsClient> | undefined;
  /** When this process wrote them. */
  readonly #written = new Map<string, number>();

  constructor(options: S3Options, { graceMs = GRACE_MS }: { readonly graceMs?: number } = {}) {
    this.#options = options;
    this.#graceMs = graceMs;
    const { bucket, endpoint, region } = options;
    const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    this.#base = endpoint ? `${endpoint.href.replace(/\/$/, '')}/${bucket}` : `https://${bucket}.s3.${region}.${suffix}`;
  }

  /** Why it cannot be used, one sentence. */
  async problem(): Promise<string | undefined> {
    try {
      await this.#page('');
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  async write(hash: string, bytes: Uint8Array): Promise<void> {
    const now = performance.now();
    if (now - (this.#written.get(hash) ?? -Infinity) < this.#graceMs / 2) return;
    const path = `${this.#key(hash)}${randomUUID()}`;
    const headers = { 'content-type': 'application/octet-stream', 'x-amz-content-sha256': hash };
    await this.#ask('PUT', path, { body: bytes as Uint8Array<ArrayBuffer>, headers });
    this.#written.delete(hash);
    this.#written.set(hash, now);
    if (this.#written.size > MAX_REMEMBERED) this.#written.delete(this.#written.keys().next().value!);
  }

  async *read(hash: string): AsyncGenerator<Buffer> {
    for await (const { name } of this.#objects(hash)) {
      const answer = await this.#ask('GET', this.#withPrefix(name), { isMissingFine: true });
      if (answer) yield await bounded(answer, MAX_BLOB_BYTES);
    }
    yield* this.#options.before?.read(hash) ?? [];
  }

  async remove(hash: string): Promise<boolean> {
    let isGone = true;
    for await (const { name, ageMs } of this.#objects(hash)) {
      if (ageMs < this.#graceMs) isGone = false;
      else await this.#ask('DELETE', this.#withPrefix(name), { isMissingFine: true });
    }
    if (!isGone) return false;
    this.#written.delete(hash);
    return (await this.#options.before?.remove(hash)) ?? true;
  }

  async *hashes(): AsyncGenerator<string> {
    let last: string | undefined;
    for await (const { hash } of this.#objects('')) {
      if (hash !== last) yield hash;
      last = hash;
    }
  }

  /** Those of one blob, or of all, in the order of their names. */
  async *#objects(hash: string): AsyncGenerator<StoredObject> {
    const within = hash === '' ? '' : `${hash.slice(0, 2)}/${hash.slice(2)}/`;
    for (let token: string | undefined, isMore = true; isMore; isMore = token !== undefined) {
      const page = await this.#page(within, token);
      yield* page.objects;
      token = page.next;
    }
  }

  async #page(within: string, token?: string): Promise<{ readonly objects: readonly StoredObject[]; readonly next: string | undefined }> {
    const query = new URLSearchParams({
      'list-type': '2',
      prefix: this.#withPrefix(within),
      ...(token && { 'continuation-token': token }),
    });
    const answer = (await this.#ask('GET', `?${query}`))!;
    const now = Date.parse(answer.headers.get('date') ?? '') || Date.now();
    const listing = (await bounded(answer, MAX_LISTING_CHARACTERS)).toString('utf8');
    const skipped = this.#withPrefix('').length;
    const objects = [...listing.matchAll(/<Contents>(.*?)<\/Contents>/gs)].flatMap(([, entry]) => {
      const name = fieldOf(entry!, 'Key')?.slice(skipped) ?? '';
      const [, folder, rest] = NAME.exec(name) ?? [];
      const modified = Date.parse(fieldOf(entry!, 'LastModified') ?? '');
      // Without a time it counts as new, and stays.
      return folder ? [{ hash: folder + rest, name, ageMs: Number.isNaN(modified) ? 0 : Math.max(0, now - modified) }] : [];
    });
    const next = fieldOf(listing, 'IsTruncated') === 'true' ? fieldOf(listing, 'NextContinuationToken') : undefined;
    return { objects, next };
  }

  #key(hash: string): string {
    return this.#withPrefix(`${hash.slice(0, 2)}/${hash.slice(2)}/`);
  }

  #withPrefix(name: string): string {
    return this.#options.prefix === '' ? name : `${this.#options.prefix}/${name}`;
  }

  async #ask(method: string, path: string, options: AskOptions = {}): Promise<Response | undefined> {
    const { isMissingFine = false, ...init } = options;
    this.#client ??= this.#makeClient();
    const client = await this.#client;
    let answer: Response;
    try {
      answer = await client.fetch(`${this.#base}/${path}`, { ...init, method, signal: AbortSignal.timeout(DEADLINE_MS) });
    } catch (error) {
      throw new Error(`the blob store at ${this.#base} did not answer: ${causeOf(error)}`, { cause: error });
    }
    if (answer.ok) return answer;
    const text = (await bounded(answer, MAX_LISTING_CHARACTERS)).toString('utf8');
    if (answer.status === 404 && isMissingFine) return undefined;
    const code = fieldOf(text, 'Code')?.slice(0, 100);
    throw new Error(`the blob store at ${this.#base} answered ${answer.status}${code ? ` (${code})` : ''} to ${method}`);
  }

  async #makeClient(): Promise<AwsClient> {
    const { AwsClient } = await import('aws4fetch');
    return new AwsClient({ ...this.#options.account, region: this.#options.region, service: 's3', retries: 2 });
  }
}

interface AskOptions {
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isMissingFine?: boolean;
}

async function bounded(answer: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the answer of the blob store has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The text of the first element of this name; our own names have nothing that XML escapes, and a token has at most `&`. */
function fieldOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text?.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

function causeOf(error: unknown): string {
  const { cause = error } = error as Error;
  return (cause as Error).message || (cause as NodeJS.ErrnoException).code || 'no reason was given';
}
