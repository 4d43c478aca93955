import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { AuditEntry } from '@tendon/protocol';
import { runs } from '@tendon/testing';
import { builtFaults } from '@tendon/testing/servers';
import { expect, it } from 'vitest';
import { verifyAudit } from '../audit/verify-audit.ts';
import { storedEntries } from '../audit/audit-chain.ts';
import { systemClock } from '../platform/system-clock.ts';
import { temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';

const START = Date.parse('2026-03-01T09:00:00Z');
/** Changes of the database from one kill to the next. */
const BETWEEN = runs(3, 13);
const run = promisify(execFile);

/** The number of changes when it was not killed. */
function serveKilledAt(home: string, point: number): Promise<number | undefined> {
  const time = new Date(START + 60 * 86_400_000).toISOString();
  return run(process.execPath, [builtFaults('killed-retention'), home, time, String(point)]).then(
    ({ stdout }) => Number(stdout),
    ({ signal, stderr }: { readonly signal: string | null; readonly stderr: string }) => {
      expect(signal, stderr).toBe('SIGKILL');
      return undefined;
    },
  );
}

async function begun(server: TestServer): Promise<{ readonly id: string; readonly workspace: string }> {
  const id = await server.create({ initial_user_msg: 'go' });
  const answered = async () => JSON.stringify(await (await server.engine.conversations.log(id))!.read());
  await expect.poll(answered, { timeout: 30_000 }).toContain('Done.');
  await server.post(`/api/conversations/${id}/stop`);
  return { id, workspace: (await server.engine.conversations.get(id))!.workspace };
}

it(
  'SV1383: a server that is killed at any change of a deletion leaves each conversation whole or, at the next start, nothing of it, with an entry of the audit log',
  { timeout: 600_000 },
  async () => {
    const clock = {
      now: () => new Date(START + performance.now()),
      sleep: (ms: number, options: { readonly signal: AbortSignal }) => systemClock.sleep(Math.min(ms, 20), options),
    };
    let killed = 0;
    for (let changes: number | undefined; changes === undefined; killed += 1) {
      const home = temporaryFolder();
      const open = () => testServer({ home, clock, script: [{ text: 'Done.' }], env: { TENDON_AUDIT: 'on' } });
      const first = await open();
      const made = [await begun(first), await begun(first)];
      await first.close();
      changes = await serveKilledAt(home, BETWEEN * killed);
      const server = await open();
      const { records } = server.engine.storage;
      await expect.poll(async () => (await records.list('active')).length, { timeout: 30_000 }).toBe(0);
      const entries = (await records.list<AuditEntry>('audit')).map(({ value }) => value);
      for (const { id, workspace } of made) {
        const isThere = (await server.engine.conversations.get(id)) !== undefined;
        const log = await server.engine.storage.events.open(id);
        expect([killed, isThere, log.nextId > 0, existsSync(workspace)]).toEqual([killed, isThere, isThere, isThere]);
        const ends = entries.filter(({ target, action }) => target === id && /^conversation\.(?:deleted|erased)$/.test(action));
        expect([killed, id, ends.length > 0]).toEqual([killed, id, !isThere]);
      }
      expect(await verifyAudit(storedEntries(records), {})).toMatchObject({ ok: true });
      await server.close();
    }
    expect(killed).toBeGreaterThan(runs(4, 1));
  },
);
