export { abortable, aborted, unlessAborted, withDeadline } from './abort.ts';
export { Mutex } from './mutex.ts';
