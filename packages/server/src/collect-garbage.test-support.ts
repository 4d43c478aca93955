import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are still in use when everything that nobody holds has gone. */
export function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
