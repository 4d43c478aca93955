/** Run in the network of a process of Node that opens its inspector: prints what it holds. `node … <port>` */
import { setTimeout as pause } from 'node:timers/promises';
import { heapBytes } from './held-memory.ts';

const TRIES = 100;

for (let left = TRIES; ; left--) {
  try {
    process.stdout.write(String(await heapBytes(Number(process.argv[2]))));
    break;
  } catch (error) {
    if (left === 0) throw error;
    await pause(100); // it is about to open
  }
}
