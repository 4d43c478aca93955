export { abortable, unlessAborted } from './abort.ts';
export { Mutex } from './mutex.ts';
