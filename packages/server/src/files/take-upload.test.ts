import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { takeUpload } from './take-upload.ts';

const LIMITS = { maxFiles: 3, maxFileBytes: 10 };

async function upload(files: readonly (readonly [string, string])[], write: (name: string, bytes: Buffer) => Promise<void>) {
  const form = new FormData();
  for (const [name, text] of files) form.append('files', new Blob([text]), name);
  const response = new Response(form);
  const bytes = Buffer.from(await response.arrayBuffer());
  return takeUpload({ 'content-type': response.headers.get('content-type')! }, Readable.from([bytes]), LIMITS, write);
}

it('SV27: too many and too large ones are skipped, and the others taken', async () => {
  const written: string[] = [];
  const taken = await upload(
    [
      ['large', 'x'.repeat(11)],
      ['fits', 'x'.repeat(10)],
      ['empty', ''],
      ['one more', ''],
    ],
    async (name, bytes) => void written.push(`${name} ${bytes.length}`),
  );
  expect(written).toEqual(['fits 10', 'empty 0']);
  expect(taken.uploaded).toEqual(['fits', 'empty']);
  expect(taken.skipped.map(({ name }) => name).toSorted()).toEqual(['', 'large']);
});

it('SV27: a file that cannot be written does not keep the others out', async () => {
  const taken = await upload(
    [
      ['bad', '1'],
      ['good', '2'],
    ],
    async (name) => {
      if (name === 'bad') throw new Error('ENOSPC');
    },
  );
  expect(taken).toEqual({ uploaded: ['good'], skipped: [{ name: 'bad', reason: 'ENOSPC' }] });
});

it('SV27: a body that ends early is refused', async () => {
  const body = Readable.from([Buffer.from('--x\r\ncontent-disposition: form-data; name="files"; filename="a"\r\n\r\ncut')]);
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  await expect(takeUpload(headers, body, LIMITS, async () => undefined)).rejects.toThrow(/end|part/i);
  const gone = new Readable({ read: () => undefined });
  const taking = takeUpload(headers, gone, LIMITS, async () => undefined);
  gone.destroy();
  await expect(taking).rejects.toThrow('cut off');
});
