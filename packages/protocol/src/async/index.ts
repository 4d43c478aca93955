export { abortable, unlessAborted, withDeadline } from './abort.ts';
export { Mutex } from './mutex.ts';
