/** For tests: conversations over a storage, with a scripted model, and a storage whose commits are counted. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryStorage, openSqliteStorage } from '@tendon/core/storage';
import { type Conversation, type Runtimes, openConversation, findAgent, delegateTo } from '@tendon/core';
import { createMask } from '@tendon/protocol/masking';
import { createScriptedProvider } from '@tendon/core/llm';
import { onTestFinished } from 'vitest';
import { depthOf } from './conversation-records.ts';
import { ConversationRegistry } from './conversation-registry.ts';
import { Conversations } from './conversations.ts';
import { delegation } from './delegated/delegation.ts';
import { createLogger } from '../platform/logger.ts';
import { temporaryFolder } from '../server.test-support.ts';
import { systemClock } from '../platform/system-clock.ts';

export const noSandbox: Runtimes = {
  acquire: () => Promise.reject(new Error('no sandbox here')),
  current: () => undefined,
  stop: async () => undefined,
};

/** Conversations over memory, a scripted model and no sandbox; `delegates`: so many levels do. */
export function conversationsWith(
  idleMs: number,
  {
    storage = createMemoryStorage({ clock: systemClock }),
    home = temporaryFolder(),
    runtimes = noSandbox,
    llm = createScriptedProvider((_request, index) => ({ text: `answer ${index}` })),
    delegates = 0,
  } = {},
) {
  const opened: string[] = [];
  const config = { home, workspaceBase: undefined, allowedDirs: [] };
  const logger = createLogger({ level: 'silent', mask: createMask([]) });
  const conversations = new Conversations({
    registry: new ConversationRegistry({ config, storage, clock: systemClock, logger }),
    config,
    storage,
    runtimes,
    clock: systemClock,
    logger,
    idleMs,
    open: async (record, all): Promise<Conversation> => {
      opened.push(record.id);
      const agent = findAgent(undefined);
      const able = depthOf(record) < delegates;
      return openConversation({
        id: record.id,
        log: await storage.events.open(record.id),
        agent: able ? { ...agent, tools: [...agent.tools, delegateTo([])] } : agent,
        llm: all.budgets.metered(record.id, async () => llm),
        sandbox: { runtimes: noSandbox },
        extensions: { ...(able && { delegate: delegation(all, record, { clock: systemClock }) }) },
        settings: {},
        host: { clock: systemClock, mask: createMask([]) },
      });
    },
  });
  return { conversations, storage, home, opened };
}

export async function made(conversations: Conversations): Promise<string> {
  const created = await conversations.create();
  if (!created.ok) throw new Error(created.error.message);
  return created.record.id;
}

/** A store whose commits are counted, and slow enough that writes which come meanwhile wait. */
export async function slowStore(home = temporaryFolder()) {
  const disk = { commits: 0 };
  const storage = await openSqliteStorage({
    path: join(home, 'tendon.db'),
    blobDir: join(home, 'blobs'),
    clock: systemClock,
    fdatasync: async (file) => {
      disk.commits += 1;
      await sleep(5);
      await file.datasync();
    },
  });
  onTestFinished(() => storage.close());
  return { disk, storage, home };
}
