import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findAgent, openConversation, type Storage } from '@tendon/core';
import { createMask } from '@tendon/protocol/masking';
import { createScriptedProvider } from '@tendon/core/llm';
import { openSqliteStorage } from '@tendon/core/storage';
import { MessageAction } from '@tendon/protocol';
import { ConversationRegistry, Conversations, createLogger, systemClock as clock } from '@tendon/server';
import { at } from '../at.ts';
import type { Row } from '../row.ts';

const CLIENTS = 200;
/** The sync time of a cloud disk, or of a busy one. */
const SYNC_MS = 8;

/** In this process, because the disk is made slow in it. */
export const acknowledgements: Row = {
  title: `${CLIENTS} clients say something at once, an fdatasync takes ${SYNC_MS} ms: acknowledged, ms (median / last)`,
  of: 'build',
  write: (times) => `${at(times, 0.5).toFixed(0)} / ${Math.max(...times).toFixed(0)}`,
  async measure(_build, { home }) {
    const fdatasync = async (file: { datasync(): Promise<void> }) => (await sleep(SYNC_MS), file.datasync());
    const storage = await openSqliteStorage({ path: join(home, 'acks/t.db'), blobDir: join(home, 'acks/blobs'), clock, fdatasync });
    const conversations = over(storage, join(home, 'acks'));
    const made = await Promise.all(Array.from({ length: CLIENTS }, () => conversations.create()));
    const ids = made.map((one) => (one.ok ? one.record.id : ''));
    const say = (id: string) => conversations.submit(id, MessageAction.create({ content: 'go on' }));
    // The first message opens and names a conversation; the measured ones do neither.
    await Promise.all(ids.map(say));
    while (ids.some((id) => conversations.state(id)?.agentState !== 'awaiting_user_input')) await sleep(20);
    const began = performance.now();
    const times = await Promise.all(ids.map(async (id) => (await say(id), performance.now() - began)));
    await conversations.close();
    await storage.close();
    return times;
  },
};

/** Conversations whose agent answers in words at once. */
function over(storage: Storage, home: string): Conversations {
  const none = () => Promise.reject(new Error('no sandbox here'));
  const runtimes = { acquire: none, current: () => undefined, stop: async () => undefined };
  const mask = createMask([]);
  const config = { home, workspaceBase: undefined, allowedDirs: [] };
  const logger = createLogger({ level: 'silent', mask });
  return new Conversations({
    registry: new ConversationRegistry({ config, storage, clock, logger }),
    config,
    storage,
    runtimes,
    clock,
    logger,
    open: async ({ id }) =>
      openConversation({
        id,
        log: await storage.events.open(id),
        agent: findAgent(undefined),
        llm: async () => createScriptedProvider(() => ({ text: 'Done.' })),
        sandbox: { runtimes },
        settings: {},
        host: { clock, mask },
      }),
  });
}
