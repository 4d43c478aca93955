/** The real server, killed while sandboxes hibernate, while others work, and in the middle of a stop. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Storage } from '@tendon/core';
import { openSqliteStorage } from '@tendon/core/storage';
import { itInFull, runs, someOf } from '@tendon/testing';
import { TendonProcess, Watcher } from '@tendon/testing/servers';
import { startModelServer, type ModelServer } from '../../bench/model-server.ts';
import { findProcesses } from '@tendon/runtime/testing';

const HIBERNATED = runs(2000, 200);
const STEPS = 12;

let model: ModelServer;
let tendon: TendonProcess;
const watchers: Watcher[] = [];

beforeAll(async () => {
  model = await startModelServer();
  return () => model.close();
});
afterEach(async () => {
  for (const watcher of watchers.splice(0)) watcher.close();
  await tendon.remove();
});

async function start(env: NodeJS.ProcessEnv = {}): Promise<void> {
  tendon = await TendonProcess.start({
    LLM_MODEL: 'openai/bench',
    LLM_API_KEY: 'a-key-for-tests',
    LLM_BASE_URL: model.url,
    RUNTIME: 'local',
    ...env,
  });
}

async function converse(): Promise<{ readonly id: string; readonly watcher: Watcher }> {
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(tendon.url, id);
  watchers.push(watcher);
  await watcher.untilState('awaiting_user_input');
  return { id, watcher };
}

const say = (watcher: Watcher, content: string): void => watcher.send('message', { content, image_urls: [], file_urls: [] });

/** What a person's command prints, with the notes on it. */
async function ran(watcher: Watcher, command: string): Promise<string> {
  const after = watcher.lastId;
  watcher.send('run', { command });
  const isAnswer = ({ id, observation }: { id: number; observation?: string }): boolean => id > after && observation === 'run';
  return JSON.stringify(await watcher.until(isAnswer, `what ${command} printed`));
}

interface Sandbox {
  readonly conversation_id: string;
  readonly state: string;
  readonly incarnation: string;
}
const sandboxOf = async (id: string): Promise<Sandbox | undefined> =>
  (await tendon.json<{ sandboxes: Sandbox[] }>('/api/sandboxes')).sandboxes.find((one) => one.conversation_id === id);
const conversationOf = (id: string) => tendon.json<{ status: string; agent_state: string }>(`/api/conversations/${id}`);

/** While no server runs. */
async function withStore<T>(work: (storage: Storage) => Promise<T>): Promise<T> {
  const clock = { now: () => new Date(), sleep: async () => undefined };
  const storage = await openSqliteStorage({ path: join(tendon.home, 'tendon.db'), blobDir: join(tendon.home, 'blobs'), clock });
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

const old = (n: number): string => n.toString(16).padStart(32, '0');

itInFull(
  'SB173, SB174: killed while many hibernate and some work: the working ones continue, the others stay as they are and are restored where they were',
  async () => {
    await start({ SANDBOX_IDLE_SECONDS: '1' });
    const sleeper = await converse();
    await ran(sleeper.watcher, 'mkdir inner; cd inner; export STORED=yes');
    await expect.poll(async () => (await sandboxOf(sleeper.id))?.state).toBe('asleep');
    const working = await Promise.all([converse(), converse()]);
    for (const { watcher } of working) say(watcher, `BENCH:${STEPS}:echo $(({i}+1)) >> counter.txt; sleep 0.03`);
    for (const { watcher } of working) await watcher.until((event) => event.observation === 'run');
    await tendon.kill('SIGKILL');
    await withStore(async ({ records }) => {
      const conversation = (await records.get<Record<string, unknown>>('conversations', sleeper.id))!;
      const sandbox = (await records.get<Record<string, unknown>>('sandboxes', sleeper.id))!;
      const put = async (n: number): Promise<void> => {
        const id = old(n);
        await records.put('conversations', { id, sort: new Date(n).toISOString(), value: { ...conversation, id } });
        const value = { ...sandbox, conversation_id: id, incarnation: id.slice(16) };
        await records.put('sandboxes', { id, sort: new Date(n).toISOString(), value });
      };
      await Promise.all(Array.from({ length: HIBERNATED }, (_, n) => put(n)));
    });

    await tendon.start();
    for (const { id, watcher } of working) {
      await watcher.untilState('finished');
      const counter = readFileSync(join(tendon.home, 'workspaces', id, 'counter.txt'), 'utf8')
        .trim()
        .split('\n')
        .map(Number);
      expect(counter).toEqual(Array.from({ length: STEPS }, (_, i) => i + 1));
    }
    const seen = await ran(sleeper.watcher, 'echo "$STORED $(basename $PWD)"');
    expect(seen).toContain('yes inner');
    expect(seen).not.toContain('are gone');
    await tendon.kill('SIGKILL');
    const states = await withStore(async ({ records }) => {
      const found = await Promise.all(Array.from({ length: HIBERNATED }, (_, n) => records.get<Sandbox>('sandboxes', old(n))));
      return new Set(found.map((record) => record?.state));
    });
    expect([...states]).toEqual(['asleep']);
  },
);

describe('a stop', () => {
  it.each(someOf([0, 8, 16, 26, 40, 150], [26]))(
    'SV184, SB176: the server killed %d ms after it was asked for: what it says is true, and the next message works',
    async (afterMs) => {
      await start();
      const { id, watcher } = await converse();
      say(watcher, `BENCH:1000:echo {i} >> counter.txt; sleep 0.05`);
      await watcher.until((event) => event.observation === 'run');
      const { incarnation } = (await sandboxOf(id))!;
      const asked = tendon.json(`/api/conversations/${id}/stop`, {}).catch(() => undefined);
      await delay(afterMs); // where in the stop it is hit is the point: any moment will do
      await tendon.kill('SIGKILL');
      await asked;
      await tendon.start();
      if ((await conversationOf(id)).status === 'RUNNING') await tendon.json(`/api/conversations/${id}/stop`, {});
      await expect.poll(async () => (await conversationOf(id)).agent_state).toBe('stopped');
      await expect.poll(() => findProcesses(incarnation, 'cmdline')).toEqual([]);
      expect((await conversationOf(id)).status).toBe('STOPPED');
      await tendon.json(`/api/conversations/${id}/message`, { message: 'BENCH:1:echo back > back.txt' });
      await expect.poll(async () => (await conversationOf(id)).agent_state).toBe('finished');
      expect(readFileSync(join(tendon.home, 'workspaces', id, 'back.txt'), 'utf8')).toBe('back\n');
      expect((await conversationOf(id)).status).toBe('RUNNING');
    },
  );
});

itInFull('SV1093: a policy that was changed before a kill holds after it, and what waited still waits for what it allows', async () => {
  await start({ SECURITY_CONFIRMATION_MODE: 'true' });
  const { id, watcher } = await converse();
  const put = async (body: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    await fetch(`${tendon.url}/api/conversations/${id}/confirmation`, { method: 'PUT', headers, body: JSON.stringify(body) });
  };
  say(watcher, 'BENCH:2:echo {i}');
  await watcher.untilState('awaiting_user_confirmation');
  await put({ policy: 'always', analyzer: 'llm' });
  await tendon.kill('SIGKILL');
  await tendon.start();
  expect(await tendon.json(`/api/conversations/${id}/confirmation`)).toMatchObject({
    mode: 'always',
    mode_by: 'conversation',
    analyzer: 'llm',
  });
  await expect.poll(() => conversationOf(id)).toMatchObject({ agent_state: 'awaiting_user_confirmation' });
  await put({ policy: 'never' });
  await watcher.untilState('finished');
});
