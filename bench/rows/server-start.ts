import type { Row } from '../row.ts';
import { start } from '../target.ts';

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
