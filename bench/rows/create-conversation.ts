import type { Row } from '../row.ts';
import { create } from '../v0-client.ts';

const CONVERSATIONS = 8;

export const createConversation: Row = {
  title: 'create conversation → ready for the first message, ms',
  of: 'server',
  async measure({ url }) {
    // What the first one loads is not what each costs.
    (await create(url)).socket.close();
    const times: number[] = [];
    for (let i = 0; i < CONVERSATIONS; i++) {
      const { readyMs, socket } = await create(url);
      times.push(readyMs);
      socket.close();
    }
    return times;
  },
};
