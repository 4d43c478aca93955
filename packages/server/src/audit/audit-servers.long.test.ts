import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { openPostgresStorage } from '@tendon/core/postgres';
import type { AuditEntry } from '@tendon/protocol';
import { Secret } from '@tendon/protocol/masking';
import { sharedPostgres } from '@tendon/testing/postgres';
import { waitFor } from '@tendon/testing';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock as clock } from '../platform/system-clock.ts';
import { storedEntries, storedHead } from './audit-chain.ts';
import { sealKey } from './sealed-entry.ts';
import { verifyAudit } from './verify-audit.ts';

const SECRET = 'the secret of all servers';

async function database() {
  const cluster = await sharedPostgres();
  const name = `audit_${process.pid}`;
  await cluster.createDatabase(name);
  onTestFinished(() => cluster.sql('postgres', `DROP DATABASE ${name} WITH (FORCE)`).then(() => undefined));
  const storage = await openPostgresStorage({ url: cluster.url(name), clock });
  onTestFinished(() => storage.close());
  return { url: cluster.url(name), storage };
}

/** Writes entries until it is killed; each line that it prints is one that was acknowledged as durable. */
function writer(url: string, name: string): { readonly child: ChildProcess; readonly lines: string[] } {
  const args = ['--conditions=tendon-source', join(import.meta.dirname, 'fixtures/audit-writer.ts'), url, name, SECRET];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  let rest = '';
  child.stdout.on('data', (piece: Buffer) => {
    const parts = (rest + piece.toString()).split('\n');
    rest = parts.pop()!;
    lines.push(...parts);
  });
  return { child, lines };
}

it(
  'SV1353: servers that write at once and are killed in mid append leave one chain with all that was acknowledged as durable',
  { timeout: 240_000 },
  async () => {
    const { url, storage } = await database();
    const writers = ['a', 'b', 'c', 'd'].map((name) => writer(url, name));
    for (const [n, { child, lines }] of writers.entries()) {
      await waitFor(
        expect.poll(() => lines.length, { timeout: 60_000 }).toBeGreaterThan(20 * (n + 1)),
        () => `${lines.length} entries of writer ${n}`,
      );
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    const head = await storedHead(storage.records);
    const verdict = await verifyAudit(storedEntries(storage.records), { key: sealKey(new Secret(SECRET)), heads: head ? [head] : [] });
    expect(verdict).toMatchObject({ ok: true });
    const stored = (await storage.records.list<AuditEntry>('audit')).map(({ value }) => value.target);
    expect(new Set(stored).size).toBe(stored.length);
    const acknowledged = writers.flatMap(({ lines }) => lines);
    expect(acknowledged.filter((one) => !stored.includes(one))).toEqual([]);
    // Of each writer at most the one in flight was stored without its word.
    expect(stored.length - acknowledged.length).toBeLessThanOrEqual(writers.length);
  },
);
