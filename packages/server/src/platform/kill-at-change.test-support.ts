/** For programs that tests start: kills this process before the n-th change of the database, counted while `isDue`. */
import { StatementSync } from 'node:sqlite';

export interface Changes {
  isDue: boolean;
  /** While `isDue`. */
  count: number;
}

/** Imported before what opens the database. */
export function killAtChange(point: string): Changes {
  const changes: Changes = { isDue: false, count: 0 };
  const run = StatementSync.prototype.run as (...args: unknown[]) => unknown;
  Object.defineProperty(StatementSync.prototype, 'run', {
    value(this: unknown, ...args: unknown[]): unknown {
      if (changes.isDue && changes.count++ === Number(point)) process.kill(process.pid, 'SIGKILL');
      return run.apply(this, args);
    },
  });
  return changes;
}
