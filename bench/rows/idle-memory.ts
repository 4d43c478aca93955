import { setTimeout as sleep } from 'node:timers/promises';
import { membersOf, pssMiB } from '../process-memory.ts';
import type { Row } from '../row.ts';
import { start } from '../target.ts';

const SETTLED_MS = 3000;

export const idleMemory: Row = {
  title: 'server idle memory, PSS MiB',
  of: 'target',
  async measure(target) {
    const running = await start(target);
    await sleep(SETTLED_MS);
    const memory = pssMiB(membersOf(running.pid, target.home));
    await running.stop();
    return [memory];
  },
};
