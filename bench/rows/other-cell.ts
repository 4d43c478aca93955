import type { Row } from '../row.ts';
import { create, runCell } from '../v0-client.ts';

const CELLS = 20;

export const otherCell: Row = {
  title: 'Jupyter: every other cell (`1 + 1`), action → observation, ms',
  of: 'server',
  async measure({ url }, { rounds }) {
    const conversation = await create(url);
    await runCell(conversation, '1 + 1');
    const times: number[] = [];
    for (let i = 0; i < CELLS * rounds; i++) times.push(await runCell(conversation, `1 + ${i}`));
    conversation.socket.close();
    return times;
  },
};
