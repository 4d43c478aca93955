import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestSandboxes, leftOf, until } from '@tendon/runtime/testing';
import { openDriver, openStorage } from './sandbox-drivers.ts';
import { startServer } from './sandbox-server-process.ts';

/** Whatever runs inside may ask for it, as a kernel does. */
const ASK = 'curl -sN -X POST -x http://127.0.0.1:3128 http://kernel.tendon.internal/cpython-311';

it('RT121: of an installation whose server was killed the next server finds and ends everything', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-fault-'));
  const stateRoot = join(folder, 'state');
  const server = startServer([folder, 'local', ASK, '7']);
  await server.line('output {"output":"Installing ipykernel');
  const started = incarnationsIn(stateRoot);
  expect(started).toHaveLength(2);
  await server.kill();

  const storage = await openStorage(folder);
  const sandboxes = createTestSandboxes(openDriver('local'), { folder, records: storage.records, workspaceOf: async () => undefined });
  try {
    await sandboxes.runtimes.reconcile();
    await until('all of it to be gone', () => started.every((incarnation) => leftOf(incarnation, stateRoot).length === 0));
    expect(readdirSync(join(stateRoot, 'kernels/local'))).toEqual([]);
    expect(incarnationsIn(stateRoot)).toEqual([]);
    expect((await storage.records.list('sandboxes')).length).toBe(0);
  } finally {
    await sandboxes.close();
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

function incarnationsIn(stateRoot: string): readonly string[] {
  const names = readdirSync(stateRoot, { recursive: true }).map(String);
  return names.flatMap((name) => /^[0-9a-f]{16}\/([0-9a-f]{16})$/.exec(name)?.[1] ?? []);
}
