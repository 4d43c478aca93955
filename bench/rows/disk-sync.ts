import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '../row.ts';

const WRITES = 200;
const PAGE = Buffer.alloc(4096);

/** What one durable write costs here, so that the step can be read against it. */
export const diskSync: Row = {
  title: '  beside it: one fdatasync on this disk, ms',
  of: 'build',
  async measure(_build, { home }) {
    const fd = openSync(join(home, 'sync-probe'), 'w');
    const times = Array.from({ length: WRITES }, (_, i) => {
      writeSync(fd, PAGE, 0, PAGE.length, i * PAGE.length);
      const started = performance.now();
      fdatasyncSync(fd);
      return performance.now() - started;
    });
    closeSync(fd);
    return times;
  },
};
