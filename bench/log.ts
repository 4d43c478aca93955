/**
 * What a durable append costs, and what it costs everybody else: three ways to commit, and the storage as it is, on an idle and on a busy disk.
 *   node --conditions=tendon-source bench/log.ts [seconds each]
 */
import type { Storage } from '@tendon/core';
import { openSqliteStorage } from '@tendon/core/storage';
import { RunObservation } from '@tendon/protocol';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { asyncDatasync, fullOnMainThread, writerThread, type BenchWriter } from './log.writers.ts';

const SECONDS = Number(process.argv[2] ?? 5);
const CONVERSATIONS = 8;
const BODY = JSON.stringify(RunObservation.create('x'.repeat(600), { command: 'ls -la' }));

/** A neighbour that writes and syncs 4 MB at a time, like an install or a checkout in a sandbox. */
const NEIGHBOUR = `
  const fs = require('fs'), block = Buffer.alloc(4 << 20, 7);
  for (let i = 0; ; i++) { const fd = fs.openSync(process.argv[1] + '/noise-' + (i % 8), 'w'); fs.writeSync(fd, block); fs.fsyncSync(fd); fs.closeSync(fd); }
`;

const open = (path: string): Promise<Storage> =>
  openSqliteStorage({ path, blobDir: `${path}.blobs`, clock: { now: () => new Date(), sleep: async () => {} } });

async function storageAsItIs(path: string): Promise<BenchWriter> {
  const storage = await open(path);
  return {
    async append(conversation, id) {
      const log = await storage.events.open(conversation);
      await log.append([{ ...RunObservation.create('x'.repeat(600), { command: 'ls -la' }), source: 'agent' }], { expectedId: id });
    },
    close: () => storage.close(),
  };
}

const WRITERS = {
  'FULL on the main thread': fullOnMainThread,
  'NORMAL + async fdatasync': asyncDatasync,
  'FULL in a thread': writerThread,
  'storage as it is': storageAsItIs,
};

async function measure(make: (path: string) => Promise<BenchWriter>, dir: string): Promise<Record<string, string>> {
  const started = performance.now();
  const writer = await make(join(dir, 'bench.db'));
  const openMs = performance.now() - started;
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const waits: number[] = [];
  const end = performance.now() + SECONDS * 1000;
  const converse = async (conversation: string): Promise<void> => {
    for (let id = 0; performance.now() < end; id++) {
      const before = performance.now();
      await writer.append(conversation, id, BODY);
      waits.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: CONVERSATIONS }, (_, index) => converse(`conversation-${index}`)));
  loop.disable();
  await writer.close();
  waits.sort((a, b) => a - b);
  const at = (q: number): string => waits[Math.floor((waits.length - 1) * q)]!.toFixed(2);
  return {
    'open ms': openMs.toFixed(1),
    'events/s': (waits.length / SECONDS).toFixed(0),
    'append p50 ms': at(0.5),
    'append p99 ms': at(0.99),
    'loop p99 ms': (loop.percentile(99) / 1e6).toFixed(2),
    'loop max ms': (loop.max / 1e6).toFixed(1),
  };
}

for (const disk of ['idle', 'busy'] as const) {
  const rows: Record<string, Record<string, string>> = {};
  for (const [name, make] of Object.entries(WRITERS)) {
    // Beside the sources and not in /tmp, which may be memory.
    const dir = mkdtempSync(join(import.meta.dirname, '.log-'));
    const neighbour = disk === 'busy' ? spawn(process.execPath, ['-e', NEIGHBOUR, dir], { stdio: 'inherit' }) : undefined;
    try {
      rows[name] = await measure(make, dir);
    } finally {
      neighbour?.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    }
  }
  console.log(`\n${disk} disk, ${CONVERSATIONS} conversations, ${SECONDS} s each`);
  console.table(rows);
}

/** The history that a connecting client is sent, before the wire. */
async function history(events: number): Promise<void> {
  const dir = mkdtempSync(join(import.meta.dirname, '.log-'));
  try {
    const storage = await open(join(dir, 'bench.db'));
    const log = await storage.events.open('c');
    for (let id = 0; id < events; id++) {
      await log.append([{ ...RunObservation.create('x'.repeat(600), { command: 'ls -la' }), source: 'agent' }], { expectedId: id });
    }
    const rounds: number[] = [];
    for (let round = 0; round < 10; round++) {
      const before = performance.now();
      for await (const { id } of log.follow(0, new AbortController())) if (id === events - 1) break;
      rounds.push(performance.now() - before);
    }
    rounds.sort((a, b) => a - b);
    console.log(`\nhistory of ${events} events: ${rounds[0]!.toFixed(1)} ms at best, ${rounds[5]!.toFixed(1)} ms in the middle`);
    await storage.close();
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

await history(2_000);
