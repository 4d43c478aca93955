import { join } from 'node:path';
import { MessageAction } from '@tendon/protocol';
import { openSqliteStorage } from '@tendon/core/storage';
import { pssMiB } from '../process-memory.ts';
import type { Row } from '../row.ts';
import { start } from '../target.ts';
import { connect, create } from '../v0-client.ts';

const APPENDED_AT_ONCE = 1_000;
const BETWEEN_LOOKS = 2_000;

/** A log that is longer than any memory should hold, to one client that keeps nothing. */
export const longStream: Row = {
  title: 'a log of 100,000 events to one client: events a second / growth of the server at its most, PSS MiB',
  of: 'build',
  write: ([perSecond, growth]) => `${perSecond?.toFixed(0)} / ${growth?.toFixed(1)}`,
  async measure(build, { home, events }) {
    const target = build.server(join(home, 'stream'), { LLM_MODEL: 'demo' });
    const first = await start(target);
    const { id, socket } = await create(target.url);
    socket.close();
    await first.stop();
    await fillLog(join(home, 'stream'), id, events);
    const { pid, stop } = await start(target);
    try {
      const memory = (): number => pssMiB([pid]);
      return await streamed(target.url, { id, events, memory });
    } finally {
      await stop();
    }
  },
};

async function fillLog(home: string, id: string, events: number): Promise<void> {
  const clock = { now: () => new Date(), sleep: () => Promise.resolve() };
  const storage = await openSqliteStorage({ path: join(home, 'tendon.db'), blobDir: join(home, 'blobs'), clock });
  const log = await storage.events.open(id);
  while (log.nextId < events) {
    const drafts = Array.from({ length: Math.min(APPENDED_AT_ONCE, events - log.nextId) }, (_, index) => ({
      ...MessageAction.create({ content: `${log.nextId + index} ${'x'.repeat(400)}` }),
      source: 'agent' as const,
    }));
    await log.append(drafts, { expectedId: log.nextId });
  }
  await storage.close();
}

async function streamed(url: string, log: { readonly id: string; readonly events: number; memory(): number }): Promise<[number, number]> {
  const before = log.memory();
  const started = performance.now();
  let most = before;
  let seen = 0;
  await new Promise<void>((resolve) => {
    const watching = connect(url, log.id, -1, (event) => {
      if (++seen % BETWEEN_LOOKS === 0) most = Math.max(most, log.memory());
      if (Number(event.id) < log.events - 1) return;
      watching.close();
      resolve();
    });
  });
  return [(seen * 1000) / (performance.now() - started), most - before];
}
