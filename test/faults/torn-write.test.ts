import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { TendonProcess } from '@tendon/testing/servers';

const PAGE_AND_HALF = 6_000;

it('SV122: killed in the midst of a write, the server starts again, says what was lost, and has the rest', async () => {
  const tendon = await TendonProcess.start({ RUNTIME: 'none' });
  onTestFinished(() => tendon.remove());
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  await tendon.kill('SIGKILL');
  const wal = join(tendon.home, 'tendon.db-wal');
  // What a write leaves that has got as far as its second page: frames of this WAL whose sums are not those of their content.
  const torn = Buffer.alloc(PAGE_AND_HALF);
  readFileSync(wal).copy(torn, 8, 16, 24);
  appendFileSync(wal, torn);
  await tendon.start();
  expect(tendon.output).toMatch(/write-ahead log .* breaks off/);
  expect(await tendon.conversations()).toMatchObject([{ conversation_id: id }]);
});
