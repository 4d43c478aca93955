import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageAction } from '@tendon/protocol';
import { freePort } from '@tendon/testing';
import { expect, it, onTestFinished } from 'vitest';
import { manualClock } from '../contract/manual-clock.ts';
import { openSqliteStorage } from '../sqlite/open-sqlite-storage.ts';
import { blobContract } from '../contract/blobs.ts';
import { BlobFolder, BlobStore } from './blob-store.ts';
import { S3Blobs } from './s3-blobs.ts';
import { s3Server } from './s3-server.test-support.ts';

const HOUR = 60 * 60_000;
const LARGE = 'x'.repeat(300 * 1024);

blobContract('a folder', async () => {
  const folder = temporaryFolder();
  const damage = async (hash: string) => writeFileSync(join(folder, 'blobs', hash.slice(0, 2), hash.slice(2)), 'other');
  return { store: await BlobStore.open(join(folder, 'blobs')), damage };
});

blobContract('a bucket', async () => {
  const server = await s3Server();
  const damage = async (hash: string) => {
    const part = `${hash.slice(0, 2)}/${hash.slice(2)}`;
    for (const [name, object] of server.objects) if (name.includes(part)) object.bytes = Buffer.from('other');
  };
  return { store: new BlobStore(new S3Blobs(server.options, { graceMs: 0 })), damage };
});

it('SV1132: a blob that one server removes while another puts it stays, and no blob younger than an hour goes', async () => {
  const server = await s3Server();
  const [one, other] = [1, 2].map(() => new BlobStore(new S3Blobs(server.options)));
  const hash = await one!.put(Buffer.from('shared'));
  one!.release([hash]);
  expect(await one!.remove(hash)).toBe(false);
  server.wait(2 * HOUR);
  server.before('DELETE', async () => void (await other!.put(Buffer.from('shared'))));
  await one!.remove(hash);
  expect(await other!.get(hash)).toMatchObject({ ok: true });
  expect(server.objects.size).toBe(1);
});

it('SV1132: a sweep removes old blobs that no event names, over all pages of the listing, and no other', async () => {
  const server = await s3Server();
  const storage = await storageOver(new S3Blobs(server.options));
  const log = await storage.events.open('c');
  await log.append([message(LARGE)], { expectedId: 0 });
  const strays = new BlobStore(new S3Blobs(server.options));
  for (let index = 0; index < 7; index++) await strays.put(Buffer.from(`stray ${index}`));
  server.wait(2 * HOUR);
  await strays.put(Buffer.from('young'));
  expect(await storage.sweep()).toBe(7);
  expect(server.objects.size).toBe(2);
  expect(await log.read()).toMatchObject([{ args: { content: LARGE } }]);
});

it('SV1131: what a folder held before there was a bucket is still read, and removed with its last use', async () => {
  const { options } = await s3Server();
  const folder = join(temporaryFolder(), 'blobs');
  const before = await BlobStore.open(folder);
  const hash = await before.put(Buffer.from('from before'));
  const store = new BlobStore(new S3Blobs({ ...options, before: new BlobFolder(folder) }));
  expect(await store.get(hash)).toMatchObject({ ok: true });
  expect(await store.remove(hash)).toBe(true);
  expect((await before.get(hash)).ok).toBe(false);
});

it('SV1133: a bucket that does not answer costs the event that needs it, with a reason, and no other', async () => {
  const { options } = await s3Server();
  const blobs = new S3Blobs({ ...options, endpoint: new URL(`http://127.0.0.1:${await freePort()}`) });
  const storage = await storageOver(blobs);
  const log = await storage.events.open('c');
  await expect(log.append([message(LARGE)], { expectedId: 0 })).rejects.toMatchObject({
    code: 'undone',
    message: expect.stringMatching(/the blob store at http:.*\/bucket did not answer: .*ECONNREFUSED/),
  });
  expect(await log.append([message('small')], { expectedId: 0 })).toHaveLength(1);
  expect(await blobs.problem()).toContain('did not answer');
  const refused = new S3Blobs({ ...options, account: { ...options.account, secretAccessKey: 'wrong' } });
  expect(await refused.problem()).toContain('answered 403 (SignatureDoesNotMatch)');
});

const message = (content: string) => ({ ...MessageAction.create({ content }), source: 'user' as const });

async function storageOver(place: S3Blobs) {
  const folder = temporaryFolder();
  const storage = await openSqliteStorage({
    path: join(folder, 'db'),
    blobDir: join(folder, 'none'),
    blobs: new BlobStore(place),
    clock: manualClock(),
  });
  onTestFinished(() => storage.close());
  return storage;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-blobs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
