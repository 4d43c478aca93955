import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What a start leaves is not needed again. */
const AFTER_START_MS = 1000;
const EVERY_MS = 30_000;
const MIN_UNUSED_BYTES = 8 * 1024 ** 2;
/** With more in it a collection would be felt. */
const MAX_USED_BYTES = 96 * 1024 ** 2;

/**
 * For as long as the process lives: while no conversation is in use and the heap holds much that nothing is in, that goes back to the machine.
 * V8 itself collects when something is allocated, and never shrinks in a process that does nothing.
 */
export function giveMemoryBack(isInUse: () => boolean): void {
  let leastTotal = 0;
  const look = () => {
    const { heapTotal, heapUsed } = process.memoryUsage();
    // What the last time could not give back is not tried again.
    if (!isInUse() && heapUsed <= MAX_USED_BYTES && heapTotal - Math.max(leastTotal, heapUsed) >= MIN_UNUSED_BYTES) {
      shrinkHeap();
      leastTotal = process.memoryUsage().heapTotal;
    }
    setTimeout(look, EVERY_MS).unref();
  };
  setTimeout(look, AFTER_START_MS).unref();
}

/** Takes about 100 ms, in which nothing else runs. `last-resort` is the one way of collecting that shrinks the part for new objects too. */
function shrinkHeap(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
