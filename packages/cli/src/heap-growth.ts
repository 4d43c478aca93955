import { setFlagsFromString } from 'node:v8';

/** V8 reads these whenever it is about to grow or to collect. */
const AT_ONCE = ['--semi-space-growth-factor=16', '--no-incremental-marking'];
/** What it does by itself. */
const AS_USUAL = ['--semi-space-growth-factor=2', '--incremental-marking'];
const SHORT_MS = 3000;

/**
 * For a process that may soon be over: it is done before most of its garbage would have been collected. One that is not is like any other
 * from then on.
 */
export function growHeapAtOnce(): void {
  for (const flag of AT_ONCE) setFlagsFromString(flag);
  setTimeout(() => AS_USUAL.forEach((flag) => setFlagsFromString(flag)), SHORT_MS).unref();
}
