import type { Row } from '../row.ts';
import { create, run, runCell } from '../v0-client.ts';

/** The kernel's start included; the sandbox runs already. */
export const firstCell: Row = {
  title: 'Jupyter: first cell of a running sandbox, kernel start included, ms',
  of: 'server',
  async measure({ url }, { rounds }) {
    const times: number[] = [];
    // The first kernel of a machine makes its environment: once for all.
    for (let round = 0; round <= rounds; round++) {
      const conversation = await create(url);
      await run(conversation, 'BENCH:1:true {i}');
      const time = await runCell(conversation, '1 + 1');
      if (round > 0) times.push(time);
      conversation.socket.close();
    }
    return times;
  },
};

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
