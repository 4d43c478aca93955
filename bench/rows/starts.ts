import { join } from 'node:path';
import type { Row } from '../row.ts';
import { start } from '../target.ts';
import { createLocalDriver, createDockerDriver } from '@tendon/runtime';
import { createTestSandboxes, executorFolder, never, type TestSandboxes } from '@tendon/runtime/testing';
import { type EngineKind, openEngine } from '@tendon/runtime/testing/containers';
import { create } from '../v0-client.ts';

export const serverStart: Row = {
  title: 'server start → first 200, ms',
  of: 'target',
  async measure(target, { rounds }) {
    if (!target.command) return [];
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const running = await start(target);
      if (running.startMs !== undefined) times.push(running.startMs);
      await running.stop();
    }
    return times;
  },
};

/** The server loads what serves clients when the first client asks. */
export const firstList: Row = {
  title: 'server start → first list of conversations, ms',
  of: 'build',
  async measure(build, { home, rounds }) {
    const target = build.server(join(home, 'first-list'), {});
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const began = performance.now();
      const running = await start(target);
      const { ok } = await fetch(`${target.url}/api/conversations`);
      if (!ok) throw new Error('the server does not list its conversations');
      times.push(performance.now() - began);
      await running.stop();
    }
    return times;
  },
};

export const localStart: Row = {
  title: 'local sandbox start → ready for the first action, ms',
  of: 'build',
  async measure(_build, { rounds }) {
    const sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }));
    try {
      return await startTimes(sandboxes, rounds);
    } finally {
      await sandboxes.close();
    }
  },
};

/** On an engine of the row's own. That needs root; without, the row stays empty. */
const startOn = (engine: EngineKind, title: string): Row => ({
  title,
  of: 'build',
  measure: async (_build, { rounds }) => (process.getuid?.() === 0 ? containerStarts(engine, rounds) : []),
});

export const dockerStart = startOn('docker', 'container start → ready for the first action, image present, Docker, ms');
export const podmanStart = startOn('podman', '  the same on Podman with runc, ms');

async function containerStarts(kind: EngineKind, rounds: number): Promise<readonly number[]> {
  const engine = await openEngine(kind);
  try {
    const driver = createDockerDriver({ executor: executorFolder(), host: engine.host, image: engine.image('bookworm') });
    const sandboxes = createTestSandboxes(driver);
    const times = await startTimes(sandboxes, rounds);
    await sandboxes.close();
    return times;
  } finally {
    await engine.close();
  }
}

const CREATED = 8;

export const createConversation: Row = {
  title: 'create conversation → ready for the first message, ms',
  of: 'server',
  async measure({ url }) {
    // What the first one loads is not what each costs.
    (await create(url)).socket.close();
    const times: number[] = [];
    for (let i = 0; i < CREATED; i++) {
      const { readyMs, socket } = await create(url);
      times.push(readyMs);
      socket.close();
    }
    return times;
  },
};

/** Milliseconds from asking for a sandbox until its executor answers. The first is left out: it looks into machine and image, once for a server. */
async function startTimes({ runtimes }: TestSandboxes, rounds: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const started = performance.now();
    await runtimes.acquire(`round ${round}`, { signal: never });
    if (round > 0) times.push(performance.now() - started);
    await runtimes.stop(`round ${round}`);
  }
  return times;
}
