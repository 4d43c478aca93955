/** The same contract on a server that others wrote; npm brings it, once. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@tendon/testing';
import { beforeAll, onTestFinished, vi } from 'vitest';
import { blobContract } from '../contract/blobs.ts';
import { BlobStore } from './blob-store.ts';
import { S3Blobs } from './s3-blobs.ts';

const VERSION = '3.7.1';
const home = join(homedir(), '.cache/tendon/s3rver', VERSION);
const program = join(home, 'node_modules/s3rver/bin/s3rver.js');

beforeAll(async () => {
  if (existsSync(program)) return;
  await promisify(execFile)('npm', ['install', '--prefix', home, '--ignore-scripts', '--no-audit', '--no-fund', `s3rver@${VERSION}`]);
});

blobContract('a bucket of s3rver', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-s3rver-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const child = spawn(process.execPath, [program, '-d', folder, '-p', String(port), '-a', '127.0.0.1', '--configure-bucket', 'bucket'], {
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const account = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  const endpoint = new URL(`http://127.0.0.1:${port}`);
  const blobs = new S3Blobs({ bucket: 'bucket', prefix: 'some/prefix', endpoint, region: 'us-east-1', account }, { graceMs: 0 });
  await vi.waitFor(
    async () => ((await blobs.problem()) === undefined ? undefined : Promise.reject(new Error('s3rver does not answer'))),
    60_000,
  );
  const damage = async (hash: string): Promise<void> => {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && path.includes(hash.slice(2)) && path.endsWith('_object')) writeFileSync(path, 'other');
    }
  };
  return { store: new BlobStore(blobs), damage };
});
