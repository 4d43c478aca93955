import { setFlagsFromString } from 'node:v8';

/** V8 reads these flags whenever it is about to grow the heap or to collect garbage. */
const AT_ONCE = ['--semi-space-growth-factor=16', '--no-incremental-marking'];
/** V8's own default. */
const AS_USUAL = ['--semi-space-growth-factor=2', '--incremental-marking'];
const SHORT_MS = 3000;

/**
 * For a process that may end soon, before most of its garbage would have been collected. A longer one behaves like any other
 * from then on.
 */
export function growHeapAtOnce(): void {
  for (const flag of AT_ONCE) setFlagsFromString(flag);
  setTimeout(() => AS_USUAL.forEach((flag) => setFlagsFromString(flag)), SHORT_MS).unref();
}
