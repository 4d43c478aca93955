import { setTimeout as sleep } from 'node:timers/promises';
import type { Row } from '../row.ts';
import { create, run, type V0Conversation } from '../v0-client.ts';

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
