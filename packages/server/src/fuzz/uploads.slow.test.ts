import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { itInFull, runs } from '@tendon/testing';
import { describe, expect, it } from 'vitest';
import { hostileZip } from '../files/hostile-zip.test-support.ts';
import { readZip } from '../files/read-zip.ts';
import { takeUpload, uploadNameFault } from '../files/take-upload.ts';
import { temporaryFolder } from '../server.test-support.ts';
import { fuzzTarget } from './fuzz-target.test-support.ts';
import { SEED } from './hostile-values.test-support.ts';
import { bodyOf, BOUNDARY, damage, damaged, part, TYPE } from './upload-bodies.test-support.ts';

const LIMITS = { maxFiles: 3, maxFileBytes: 1000 };

function inPieces(bytes: Buffer, count: number): readonly Buffer[] {
  const size = Math.ceil(bytes.length / count) || 1;
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

describe('SV131: uploads', () => {
  it('whatever a body says and wherever it ends, it is answered, and only what may be written is', async () => {
    const property = fc.asyncProperty(fc.array(part, { maxLength: 6 }), damage, async (parts, how) => {
      const written: string[] = [];
      const taking = takeUpload(
        { 'content-type': TYPE },
        Readable.from(inPieces(damaged(bodyOf(parts), how), how.pieces)),
        LIMITS,
        async (file, bytes) => {
          expect(uploadNameFault(file)).toBeUndefined();
          expect(bytes.length).toBeLessThanOrEqual(LIMITS.maxFileBytes);
          written.push(file);
        },
      );
      const taken = await taking.catch((cause: Error) => ({ uploaded: written, refusal: cause.message }));
      expect(taken).not.toHaveProperty('refusal', '');
      expect(taken.uploaded).toEqual(written);
      expect(written.length).toBeLessThanOrEqual(LIMITS.maxFiles);
    });
    await fc.assert(property, { numRuns: runs(400), seed: SEED, endOnFailure: true });
  });

  itInFull('at every endpoint the answer is below 500, and a 200 names only files that are there', { timeout: 300_000 }, async () => {
    const base = join(temporaryFolder(), 'base');
    mkdirSync(base);
    const target = await fuzzTarget({ WORKSPACE_BASE: base });
    const outside = readdirSync(join(base, '..'));
    const id = await target.create();
    const { token } = (await (await target.get('/api/auth', { authorization: 'Bearer null' })).json()) as { token: string };
    let taken = 0;
    const property = fc.asyncProperty(fc.array(part, { maxLength: 4 }), damage, async (parts, how) => {
      const body = new Uint8Array(damaged(bodyOf(parts), how));
      for (const path of [`/api/conversations/${id}/upload-files`, '/api/upload-files', '/api/upload-file']) {
        const headers = { 'content-type': TYPE, authorization: `Bearer ${token}` };
        const answer = await fetch(target.url + path, { method: 'POST', headers, body });
        const text = await answer.text();
        expect(answer.status, `${path} ${text.slice(0, 300)}`).toBeLessThan(500);
        if (answer.status !== 200 || !path.includes(id)) continue;
        const { uploaded_files } = JSON.parse(text) as { uploaded_files: readonly string[] };
        expect(uploaded_files.filter((file) => !existsSync(file))).toEqual([]);
        taken += uploaded_files.length;
      }
    });
    await fc.assert(property, { numRuns: runs(60), seed: SEED, endOnFailure: true });
    expect(taken).toBeGreaterThan(0);
    expect(readdirSync(join(base, '..'))).toEqual(outside);
    await target.expectUnharmed();
  });

  it('clients that stop in the middle of a file are forgotten, and nothing of theirs is written', async () => {
    const base = temporaryFolder();
    const target = await fuzzTarget({ WORKSPACE_BASE: base });
    const id = await target.create();
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="half.txt"\r\n\r\nhalf of`;
    const aborts = Array.from({ length: 20 }, () => {
      const controller = new AbortController();
      const body = new ReadableStream({
        start: (stream) => void stream.enqueue(new TextEncoder().encode(head)),
        pull: () => new Promise(() => undefined),
      });
      const init = { method: 'POST', body, duplex: 'half', signal: controller.signal, headers: { 'content-type': TYPE } } as RequestInit;
      const answer = fetch(`${target.url}/api/conversations/${id}/upload-files`, init).catch(() => 'gone');
      return { controller, answer };
    });
    await target.expectUnharmed();
    for (const { controller } of aborts) controller.abort();
    expect(await Promise.all(aborts.map(({ answer }) => answer))).toEqual(aborts.map(() => 'gone'));
    await target.expectUnharmed();
    expect(readdirSync(base)).toEqual([]);
  });
});

describe('SV130: zips', () => {
  const good = hostileZip([{ name: 'a/' }, { name: 'a/b.txt', content: 'one'.repeat(100) }, { name: 'c', content: Buffer.alloc(5000, 7) }]);

  it('any damage is reported, or the content is what it was', async () => {
    const flips = fc.array(fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 });
    const property = fc.asyncProperty(flips, fc.option(fc.nat(good.length)), async (changes, cut) => {
      const bytes = Buffer.from(good);
      for (const [at, mask] of changes) bytes[at]! ^= mask;
      const words = await unpack(cut === null ? bytes : bytes.subarray(0, cut)).catch((cause: Error) => cause.message);
      expect(words).toMatch(/zip|packed|^all is as it was$/);
    });
    await fc.assert(property, { numRuns: runs(2000), seed: SEED, endOnFailure: true });
  });

  itInFull('a folder is sent whole to several at once, and is read back by the reader of hostile ones', async () => {
    const base = temporaryFolder();
    const target = await fuzzTarget({ WORKSPACE_BASE: base });
    for (let file = 0; file < 50; file++) writeFileSync(join(base, `${file}.txt`), `${file}`.repeat(1000));
    const path = `/api/conversations/${await target.create()}/zip-directory`;
    const answers = await Promise.all([target.get(path), target.get(path)]);
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      const entries = readZip(Buffer.from(await answer.arrayBuffer()));
      const text = await entries.find((entry) => entry.name === '7.txt')!.read();
      expect(text.equals(readFileSync(join(base, '7.txt')))).toBe(true);
      expect(entries).toHaveLength(50);
    }
    await target.expectUnharmed();
  });
});

async function unpack(zip: Buffer): Promise<string> {
  for (const entry of readZip(zip)) {
    if (uploadNameFault(entry.name.replace(/\/$/, '')) !== undefined) return 'a name that leads out';
    if ((await entry.read()).length > 5000) return 'more than was put in';
  }
  return 'all is as it was';
}
