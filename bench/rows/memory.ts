import { setTimeout as sleep } from 'node:timers/promises';
import { membersOf, pssMiB } from '../process-memory.ts';
import type { Row } from '../row.ts';
import { start } from '../target.ts';
import { create, run, type V0Conversation } from '../v0-client.ts';
import { join } from 'node:path';

const SERVER_SETTLED_MS = 3000;

export const idleMemory: Row = {
  title: 'server idle memory, PSS MiB',
  of: 'target',
  async measure(target) {
    const running = await start(target);
    await sleep(SERVER_SETTLED_MS);
    const memory = pssMiB(membersOf(running.pid, target.home));
    await running.stop();
    return [memory];
  },
};

const CONVERSATIONS = 8;
const SETTLED_MS = 1500;

export const sandboxMemory: Row = {
  title: 'memory per open conversation with a running sandbox, PSS MiB',
  of: 'server',
  async measure({ url, memory }) {
    const open: V0Conversation[] = [];
    const another = async (): Promise<void> => {
      const conversation = await create(url);
      await run(conversation, 'BENCH:1:true {i}');
      open.push(conversation);
    };
    await another();
    const before = memory();
    for (let i = 0; i < CONVERSATIONS; i++) await another();
    await sleep(SETTLED_MS);
    const growth = memory() - before;
    for (const { socket } of open) socket.close();
    return [growth / CONVERSATIONS];
  },
};

/** An open conversation without a client is closed after half a minute. */
const CLOSED_AFTER_MS = 50_000;

/** Opened and looked at, without a task: the sandboxes that this should not start are counted with the rest. */
export const idleConversations: Row = {
  title: 'memory per idle conversation, a client connected / left for a minute, PSS MiB',
  of: 'build',
  write: (figures) => figures.map((value) => value.toFixed(3)).join(' / '),
  async measure(build, { home, conversations }) {
    const target = build.server(join(home, 'idle'), { LLM_MODEL: 'demo' });
    const running = await start(target);
    const memory = (): number => pssMiB(membersOf(running.pid, target.home));
    try {
      (await create(target.url)).socket.close(); // what is loaded by the first one is not what each costs
      const before = memory();
      const all: V0Conversation[] = [];
      for (let index = 0; index < conversations; index++) all.push(await create(target.url));
      const open = memory() - before;
      for (const { socket } of all) socket.close();
      await sleep(CLOSED_AFTER_MS);
      return [open / conversations, (memory() - before) / conversations];
    } finally {
      await running.stop();
    }
  },
};
